import Type from 'typebox';
import { hubError, HubError } from '../../errors.ts';
import type { EventLog, SelectedEvent } from '../../events/event_log.ts';
import { eventTopic, type Selection } from '../../events/selection.ts';
import { filterParams } from '../../fanout/filter.ts';
import { show } from '../../model/error_value_text.ts';
import { LoggedEvents } from '../../model/event_replies.ts';
import { EVENT_TOPICS, type EventTopic } from '../../model/logged_event.ts';
import type { EventsApi } from '../deps.ts';
import { type ApiCall, type ApiRoute, route } from '../route.ts';
import { VIEW_QUERY } from '../view.ts';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1000;
/** Events read at once for a stream. */
const STREAMED_AT_ONCE = 200;
/** Interval of lines that keep an idle stream open: the server closes connections that are idle for 10 s. */
const KEEP_ALIVE_MS = 5000;

const TOPIC_QUERY = {
  topic: Type.Optional(
    Type.String({
      description: `Topics, separated by commas: ${EVENT_TOPICS.join(', ')}. All that may be read if absent.`,
    }),
  ),
};
const AFTER = 'Cursor of an event, or oldest or newest';

/** Filters of all topics, as text. */
const FILTER_QUERY = Object.fromEntries(
  EVENT_TOPICS.flatMap((topic) =>
    Object.keys(filterParams(topic)).map((name) => [
      name,
      Type.Optional(
        Type.String({ description: 'As in subscriptions to the topics that have it; ignored by the others.' }),
      ),
    ]),
  ),
);
const { crs, zone_id } = VIEW_QUERY;
const SELECTING = { ...TOPIC_QUERY, ...FILTER_QUERY, crs, zone_id };

const REFUSALS = {
  401: 'The hub requires an access token, and the request has no valid one.',
  403: 'The access token does not permit subscribing to a topic.',
  404: 'The hub logs no events: event_retention is 0.',
  410: 'Events after the cursor have been removed; the params of the error have the oldest cursor.',
};

const STREAM = Type.String({ title: 'EventStream', description: 'Server-Sent Events.' });

/** The event log. A token may read the topics that it may subscribe to, so the topics are authorized, not the paths. */
export const EVENT_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/events',
    summary: 'Events after a cursor',
    versions: ['v2'],
    permission: 'public',
    query: Type.Object({
      ...SELECTING,
      after: Type.Optional(Type.String({ description: `${AFTER}. oldest if absent.` })),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: `Maximum events; ${LIMIT_DEFAULT} if absent.` }),
      ),
    }),
    notes: {
      description:
        'The order is that of the changes. Continue with next as after: at once if has_more is true, even if events is empty.',
      refusals: REFUSALS,
    },
    replies: { 200: { description: 'The events.', schema: LoggedEvents } },
    async handle(call, { events }) {
      const log = events.log();
      const { after } = call.query;
      const position = log.positionOf(after, 'after');
      const limit = limitOf(call.query.limit);
      const { selection } = await selected(call, events);
      const page = await log.select(position, selection, limit);
      const list = page.events.map((event) => elementOf(event, log)).join(',');
      const next = JSON.stringify(log.cursors.at(page.to));
      return call.reply.json(`{"events":[${list}],"next":${next},"has_more":${page.hasMore}}`);
    },
  }),
  route({
    method: 'GET',
    path: '/events/stream',
    summary: 'Events after a cursor, and then each new one, as Server-Sent Events',
    versions: ['v2'],
    permission: 'public',
    query: Type.Object({
      ...SELECTING,
      after: Type.Optional(
        Type.String({ description: `${AFTER}. The header Last-Event-ID has precedence; newest if both are absent.` }),
      ),
    }),
    notes: {
      description:
        'Each event has its cursor as id, its topic as event, and its JSON as data. Accept must include text/event-stream.',
      refusals: REFUSALS,
    },
    replies: { 200: { description: 'The stream.', schema: STREAM, mediaType: 'text/event-stream' } },
    async handle(call, { events }) {
      const accept = call.client.header('accept');
      // Other clients would wait for the end of the reply.
      if (accept?.includes('text/event-stream') !== true) {
        throw hubError('not_accepted', { path: 'Accept', media_type: 'text/event-stream', found: show(accept) });
      }
      const log = events.log();
      const last = call.client.header('last-event-id');
      const position =
        last === undefined || last === ''
          ? log.positionOf(call.query.after ?? 'newest', 'after')
          : log.positionOf(last, 'Last-Event-ID');
      const chosen = await selected(call, events);
      const { revoked } = chosen;
      const disconnected = call.client.gone?.();
      const gone = disconnected && revoked ? AbortSignal.any([disconnected, revoked]) : (disconnected ?? revoked);
      return {
        status: 200,
        headers: {
          'Content-Type': 'text/event-stream',
          'Cache-Control': 'no-store',
          // Proxies such as NGINX otherwise collect the stream.
          'X-Accel-Buffering': 'no',
        },
        body: { parts: stream({ ...chosen, log, events, gone, position }) },
      };
    },
  }),
];

interface Chosen {
  readonly selection: Selection;
  /** Time at which the access token expires. */
  readonly expiresMs: number;
  /** Aborted when the API key of the request is revoked. */
  readonly revoked: AbortSignal | undefined;
}

/**
 * Returns the selected topics that the token may subscribe to. Rejects with HUB_NOT_AUTHENTICATED, with HUB_BAD_REQUEST,
 * and with HUB_NOT_AUTHORIZED if it may not subscribe to a topic that the request names, or to none of all topics.
 */
async function selected({ query, token }: ApiCall, { selectTopic }: EventsApi): Promise<Chosen> {
  const { topic, after: _after, limit: _limit, ...params } = query as Readonly<Record<string, string | undefined>>;
  const named = topic?.split(',').map((name) => eventTopic(name, 'topic'));
  const selection = new Map<EventTopic, Awaited<ReturnType<EventsApi['selectTopic']>>>();
  let refused: unknown;
  for (const each of named ?? EVENT_TOPICS) {
    try {
      selection.set(each, await selectTopic(each, params, token));
    } catch (error) {
      const isForbidden = error instanceof HubError && error.code === 'HUB_NOT_AUTHORIZED';
      if (named !== undefined || !isForbidden) throw error;
      refused = error;
    }
  }
  if (selection.size === 0 && refused !== undefined) throw refused;
  const accesses = [...selection.values()];
  const expiresMs = Math.min(...accesses.map((access) => access.expiresMs));
  return { selection, expiresMs, revoked: accesses.find(({ revoked }) => revoked !== undefined)?.revoked };
}

function limitOf(value: unknown): number {
  if (value === undefined) return LIMIT_DEFAULT;
  const limit = /^\d{1,5}$/.test(String(value)) ? Number(value) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw hubError('not_in_range', { path: 'limit', minimum: 1, maximum: LIMIT_MAX, found: show(value) });
}

function elementOf({ position, topic, json }: SelectedEvent, log: EventLog): string {
  return `{"cursor":"${log.cursors.at(position)}","topic":"${topic}","payload":${json}}`;
}

interface Streaming extends Chosen {
  readonly log: EventLog;
  readonly events: Pick<EventsApi, 'now' | 'schedule'>;
  readonly gone: AbortSignal | undefined;
  readonly position: number;
}

/** Yields events as the client reads them, until `gone` is aborted or its token expires. */
async function* stream({ log, selection, expiresMs, events, gone, position }: Streaming): AsyncGenerator<Uint8Array> {
  let at = position;
  let sent = -1;
  try {
    while (gone?.aborted !== true && !log.isClosed && events.now() < expiresMs) {
      const page = await log.select(at, selection, STREAMED_AT_ONCE);
      at = page.to;
      let text = page.events.map((event) => messageOf(event, log)).join('');
      sent = page.events.at(-1)?.position ?? sent;
      // Without data this is no event for the client, but changes its Last-Event-ID.
      if (text === '' && !page.hasMore) {
        text = at === sent ? ':\n\n' : `id: ${log.cursors.at(at)}\n\n`;
        sent = at;
      }
      if (text !== '') yield Buffer.from(text);
      if (!page.hasMore) await moreOrLater({ log, selection, events, gone, at });
    }
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    const { code, message, reason, params } = error;
    yield Buffer.from(`event: error\ndata: ${JSON.stringify({ code, message, reason, params })}\n\n`);
  }
}

function messageOf({ position, topic, json }: SelectedEvent, log: EventLog): string {
  return `id: ${log.cursors.at(position)}\nevent: ${topic}\ndata: ${json}\n\n`;
}

type Waiting = Pick<Streaming, 'log' | 'selection' | 'events' | 'gone'> & { readonly at: number };

/** Resolves when the log has more events, the client has disconnected, or it is time to keep the stream open. */
async function moreOrLater({ log, events, gone, at }: Waiting): Promise<void> {
  if (log.newestPosition > at || gone?.aborted === true || log.isClosed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = log.onAppended(resolve);
  const cancel = events.schedule(KEEP_ALIVE_MS, resolve);
  gone?.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  stop();
  cancel();
}
