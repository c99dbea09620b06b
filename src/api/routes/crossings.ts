import Type from 'typebox';
import { GATE_SLOT_MS } from '../../core/fence/gate_counts.ts';
import type { QueryResult } from '../../core/item.ts';
import { hubError } from '../../errors.ts';
import type { CrossingsQuery } from '../../history/queries/query.ts';
import { type CrossedStep, crossingsText } from '../../model/crossings_text.ts';
import { show } from '../../model/error_value_text.ts';
import { CrossingsReply } from '../../model/history_replies.ts';
import { replied } from '../history_access.ts';
import { requireEntity } from '../lookup.ts';
import { answersTo } from '../naming.ts';
import { type ApiRoute, route } from '../route.ts';
import { integerIn, type QueryParameters, SPAN_QUERY, spanOf } from '../time_range.ts';

const DAY_MS = 86_400_000;

export const CROSSINGS_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/fences/:fence_id/crossings',
    summary: 'Crossings of a gate by direction',
    versions: ['v2'],
    permission: { operation: 'READ', resource: 'fence_id' },
    query: Type.Object({
      ...SPAN_QUERY,
      step: Type.Optional(
        Type.Integer({
          minimum: GATE_SLOT_MS,
          description: 'Length of the counted steps in milliseconds, rounded to quarter hours; 3,600,000 if absent.',
        }),
      ),
    }),
    exactQuery: true,
    notes: {
      description:
        'The range starts with a quarter hour. Each crossing of a trackable counts, and of a provider that no trackable ' +
        'has. The counts are those of the history or, if it is off, of the hub since its start.',
    },
    replies: { 200: { description: 'The crossings.', schema: CrossingsReply } },
    async handle(call, hub) {
      const { id, region } = requireEntity('fence', call.id, hub);
      const query = call.query as QueryParameters;
      const { history } = hub;
      const span = spanOf(query, hub.events.now());
      const step = integerIn(query, 'step', { least: GATE_SLOT_MS, most: 366 * DAY_MS }) ?? 4 * GATE_SLOT_MS;
      if (region.type !== 'LineString') throw hubError('not_a_gate', { path: 'fence_id', found: show(id) });
      const question: CrossingsQuery = {
        ask: 'crossings',
        fenceId: id,
        fromMs: slotOf(span.fromMs),
        toMs: span.toMs,
        stepMs: Math.round(step / GATE_SLOT_MS) * GATE_SLOT_MS,
      };
      if (history?.recordsCrossings === true) {
        return replied(call, { history, question, mediaType: 'application/json' });
      }
      return call.reply.json(counted(question, await answersTo({ ask: 'crossings', id }, call, hub)));
    },
  }),
];

/** Adds up the counts of all shards. They are complete since the latest of their starts. */
function counted(question: CrossingsQuery, answers: readonly QueryResult[]): string {
  const { fromMs, toMs, stepMs } = question;
  const steps = new Map<number, CrossedStep>();
  let sinceMs = 0;
  for (const answer of answers) {
    if (!('crossings' in answer)) continue;
    sinceMs = Math.max(sinceMs, answer.sinceMs);
    for (const [startMs, left, right] of answer.crossings) {
      if (startMs < fromMs || startMs >= toMs) continue;
      const at = fromMs + Math.floor((startMs - fromMs) / stepMs) * stepMs;
      const before = steps.get(at);
      steps.set(at, { fromMs: at, left: left + (before?.left ?? 0), right: right + (before?.right ?? 0) });
    }
  }
  const inOrder = [...steps.values()].sort((a, b) => a.fromMs - b.fromMs);
  return crossingsText(question, inOrder, sinceMs);
}

function slotOf(ms: number): number {
  return Math.floor(ms / GATE_SLOT_MS) * GATE_SLOT_MS;
}
