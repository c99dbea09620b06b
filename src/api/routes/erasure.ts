import Type from 'typebox';
import { EVER, type Span } from '../../history/queries/query.ts';
import { hubError } from '../../errors.ts';
import { ErasureReply } from '../../model/history_replies.ts';
import type { ObjectKind } from '../../model/id.ts';
import { Time } from '../../model/schema.ts';
import { formatTime } from '../../model/time.ts';
import { knownId, NOT_RECORDED, recorded, warningOf } from '../history_access.ts';
import { type ApiRoute, route } from '../route.ts';
import { type QueryParameters, timeIn } from '../time_range.ts';

const SPAN_QUERY = Type.Object({
  from: Type.Optional(Time('Start of the range, RFC 3339; the oldest row if absent.')),
  to: Type.Optional(Time('End of the range, exclusive; the newest row if absent.')),
});
const ROWS: Readonly<Record<ObjectKind, string>> = {
  trackable: 'motions of the trackable, and all fence and collision events that name it',
  provider: 'locations of the provider, and its own fence events',
};

/** Erasure of recorded rows of an object. */
export const ERASURE_ROUTES: readonly ApiRoute[] = [erasureRow('trackable'), erasureRow('provider')];

function erasureRow(kind: ObjectKind): ApiRoute {
  return route({
    method: 'DELETE',
    path: kind === 'trackable' ? '/trackables/:trackable_id/history' : '/providers/:provider_id/history',
    summary: `Erase the history of a ${kind}`,
    versions: ['v2'],
    permission: { operation: 'DELETE', resource: `${kind}_id` },
    query: SPAN_QUERY,
    exactQuery: true,
    notes: {
      description:
        `Erases the ${ROWS[kind]}. The reply is sent when no file has these rows. If missing_hubs names hubs, repeat ` +
        'the request when they are back.',
      refusals: { ...NOT_RECORDED.refusals, 503: 'The files cannot be written, or the audit log has no entry of it.' },
    },
    replies: { 200: { description: 'The number of erased rows.', schema: ErasureReply } },
    async handle(call, api) {
      const history = recorded(api);
      const span = spanIn(call.query as QueryParameters);
      const id = await knownId(kind, call, api);
      const { rows, damaged, missingHubs } = await history.erase({ kind, of: id, ...span }, call.by());
      const { fromMs, toMs } = span;
      const body = {
        ...(missingHubs.length > 0 && { missing_hubs: missingHubs }),
        id,
        ...(fromMs > EVER.fromMs && { from: formatTime(fromMs) }),
        ...(toMs < EVER.toMs && { to: formatTime(toMs) }),
        ...rows,
        damaged_files: damaged,
      };
      const reply = call.reply.json(JSON.stringify(body));
      return { ...reply, headers: { ...reply.headers, ...warningOf({ damaged, missingHubs }) } };
    },
  });
}

/** Returns the span of the parameters, by default all times. Throws HUB_BAD_REQUEST if it is empty. */
function spanIn(query: QueryParameters): Span {
  const { fromMs, toMs } = { fromMs: timeIn(query, 'from') ?? EVER.fromMs, toMs: timeIn(query, 'to') ?? EVER.toMs };
  if (fromMs < toMs) return { fromMs, toMs };
  throw hubError('not_before', { path: 'from', from: String(query.from), to: String(query.to) });
}
