import Type from 'typebox';
import type { Selection } from '../../events/selection.ts';
import { hubError } from '../../errors.ts';
import { AUDIT_KINDS, AuditEntries, AuditKind } from '../../model/audit.ts';
import { idKey } from '../../model/id.ts';
import { Time } from '../../model/schema.ts';
import { type ApiRoute, route } from '../route.ts';
import { integerIn, timeIn, wordIn, type QueryParameters } from '../time_range.ts';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1000;

/** The audit log. */
export const AUDIT_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/audit',
    summary: 'Changes of entities and settings, and reads of the history: by whom, when, and from where',
    versions: ['v2'],
    permission: { operation: 'READ' },
    query: Type.Object({
      kind: Type.Optional(AuditKind),
      id: Type.Optional(Type.String({ description: 'Entries about that id; all if absent.' })),
      subject: Type.Optional(Type.String({ description: 'Entries with that subject; all if absent.' })),
      from: Type.Optional(Time('Start of the range, RFC 3339; the oldest entry if absent. Ignored with a cursor.')),
      to: Type.Optional(Time('End of the range, exclusive; the newest entry if absent.')),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: `Maximum entries; ${LIMIT_DEFAULT} if absent.` }),
      ),
      cursor: Type.Optional(Type.String({ description: 'next of the previous reply: entries after it.' })),
    }),
    notes: {
      description:
        'The order is that of the changes. While has_more is true, continue with next as cursor, even if entries is empty.',
      refusals: {
        404: 'The hub audits nothing: audit_retention is 0.',
        410: 'Entries after the cursor have been removed; the params of the error have the oldest cursor.',
      },
    },
    replies: { 200: { description: 'The entries.', schema: AuditEntries } },
    async handle(call, { audit }) {
      const log = audit();
      const query = call.query as QueryParameters;
      const selection = selectionOf(query);
      const limit = integerIn(query, 'limit', { least: 1, most: LIMIT_MAX }) ?? LIMIT_DEFAULT;
      const [fromMs, toMs] = [timeIn(query, 'from'), timeIn(query, 'to')];
      if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs) {
        throw hubError('not_before', { path: 'from', from: String(query.from), to: String(query.to) });
      }
      const end = toMs === undefined ? Number.POSITIVE_INFINITY : await log.positionAt(toMs);
      const from = fromMs === undefined ? log.positionOf(undefined, 'cursor') : await log.positionAt(fromMs);
      const after = query.cursor === undefined ? from : log.positionOf(String(query.cursor), 'cursor');
      const { events, to, hasMore } = await log.select(after, selection, limit);
      const entries = events.filter(({ position }) => position <= end);
      const isOver = to >= end;
      const next = log.cursors.at(isOver ? Math.max(after, end) : to);
      const list = entries.map(({ position, json }) => `{"cursor":"${log.cursors.at(position)}",${json.slice(1)}`);
      return call.reply.json(
        `{"entries":[${list.join(',')}],"next":${JSON.stringify(next)},"has_more":${hasMore && !isOver}}`,
      );
    },
  }),
];

/** Returns the entries that the filters select. Ids that are UUIDs are compared in any case. */
function selectionOf(query: QueryParameters): Selection {
  const kind = wordIn(query, 'kind', AUDIT_KINDS);
  const id = query['id'] === undefined ? undefined : idKey(String(query['id']));
  const { subject } = query;
  const filter = ([itsKind, itsId, itsSubject, ...otherIds]: readonly unknown[]): boolean =>
    (kind === undefined || itsKind === kind) &&
    (id === undefined || [itsId, ...otherIds].some((each) => idKey(String(each)) === id)) &&
    (subject === undefined || itsSubject === subject);
  return new Map([['audit', { filter }]]);
}
