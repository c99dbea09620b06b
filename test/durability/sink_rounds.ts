import assert from 'node:assert/strict';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { openWebhookServer, type ReceivedRequest, type WebhookServer } from '../support/webhook_server.ts';
import { type AtEnd, fenceOf, HubProcess, locationOf, randomFrom } from './hub_process.ts';

const FENCE = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f01';
const PROVIDERS = Array.from({ length: 8 }, (_, i) => `tag-${i}`);
/** Locations are on disk before they are answered, so each answered crossing has an event. */
const SETTINGS = { sink_allowed_hosts: '["127.0.0.1"]', db_fast_writes: 'false' };
/** Steps of all providers in one round. Each step crosses the fence. */
const STEPS = 60;

interface FenceEvent {
  readonly id: string;
  readonly provider_id: string;
  readonly event_type: string;
}

interface LoggedEvent extends FenceEvent {
  readonly cursor: string;
}

interface Page {
  readonly events: readonly { readonly cursor: string; readonly payload: FenceEvent }[];
  readonly next: string;
  readonly has_more: boolean;
}

export interface SinkRounds {
  readonly kills: number;
  readonly seed: number;
  readonly atEnd: AtEnd;
  done?(round: number): void;
}

export interface SinkFindings {
  /** Fence events in the log of the hub. */
  readonly events: number;
  /** Requests that a kill interrupted. */
  readonly interrupted: number;
  /** Deliveries to the webhook that repeat an event. */
  readonly repeated: number;
  readonly problems: readonly string[];
}

/**
 * Kills a hub in the middle of requests, again and again, while a webhook and a WebSocket subscriber receive its events. The
 * webhook must have each event of the log at least once, and the subscriber, which resumes after its cursor, exactly once,
 * both in order per object.
 */
export async function runSinkRounds({ kills, seed, atEnd, done }: SinkRounds): Promise<SinkFindings> {
  const target = await openWebhookServer();
  atEnd(() => void target.close());
  const [folder, random] = [temporaryFolder(), randomFrom(seed)];
  let hub = await HubProcess.start(folder, SETTINGS, atEnd);
  await hub.post('/fences', fenceOf(FENCE));
  const sink = await hub.post('/sinks', { name: 'A', type: 'webhook', url: target.url, topics: ['fence_events'] });
  assert.equal(sink?.status, 201, JSON.stringify(sink?.body));
  const subscriber = new Subscriber();
  atEnd(() => subscriber.close());
  await subscriber.connect(hub.base);
  const crossings = new Crossings();
  let step = 0;
  for (let kill = 0; kill <= kills; kill++) {
    const killedAt = kill === kills ? -1 : Math.floor(random() * STEPS);
    for (let i = 0; i < STEPS; i++) {
      step++;
      const isInside = step % 2 === 0;
      const locations = PROVIDERS.map((provider) => locationOf(provider, isInside ? 0 : 100));
      const sent = hub.put('/providers/locations', locations);
      const crashed = i === killedAt ? hub.crash() : undefined;
      const answer = await sent;
      await crashed;
      crossings.add(isInside, answer?.status === 204);
      if (crashed !== undefined) break;
      assert.equal(answer?.status, 204, JSON.stringify(answer));
    }
    done?.(kill);
    if (kill === kills) break;
    hub = await HubProcess.start(folder, SETTINGS, atEnd);
    await subscriber.connect(hub.base);
  }
  await hub.get('/trackables/motions');
  const logged = await eventsOf(hub);
  const newest = logged.at(-1)?.cursor ?? '';
  await Promise.all([receivesAll(target, logged), subscriber.received(newest)]);
  subscriber.close();
  await hub.stop();
  const delivered = target.requests.map(receivedOf);
  return {
    events: logged.length,
    interrupted: crossings.interrupted,
    repeated: delivered.length - logged.length,
    problems: [
      ...PROVIDERS.flatMap((provider) => crossings.problems(logged.filter((event) => event.provider_id === provider))),
      ...problemsOfWebhook(logged, delivered),
      ...problemsOfSubscriber(logged, subscriber.events),
    ],
  };
}

/** Bounds of the number of events of a provider, and their order. */
class Crossings {
  interrupted = 0;
  #least = 0;
  #most = 0;
  /** The side of the last location; undefined if its request was interrupted. */
  #isInside: boolean | undefined = false;

  add(isInside: boolean, isAnswered: boolean): void {
    const isCrossing = this.#isInside !== isInside;
    if (isCrossing) this.#most++;
    if (isCrossing && isAnswered && this.#isInside !== undefined) this.#least++;
    this.#isInside = isAnswered ? isInside : undefined;
    if (!isAnswered) this.interrupted++;
  }

  problems(events: readonly LoggedEvent[]): readonly string[] {
    const provider = events[0]?.provider_id;
    const count = events.length;
    const isCount = count >= this.#least && count <= this.#most;
    const wrong = events.find((event, i) => event.event_type !== (i % 2 === 0 ? 'region_entry' : 'region_exit'));
    return [
      ...(isCount ? [] : [`${provider} has ${count} events, expected ${this.#least} to ${this.#most}`]),
      ...(wrong === undefined ? [] : [`${provider}: ${wrong.event_type} ${wrong.cursor} follows an event like it`]),
    ];
  }
}

/** A subscriber that resumes after the cursor of the last message, as docs/subscribers.md describes. */
class Subscriber {
  /** Events with the cursors of their messages. */
  readonly events: LoggedEvent[] = [];
  #socket: WebSocket | undefined;
  #cursor = 'newest';
  #wanted: { readonly cursor: string; readonly resolve: () => void } | undefined;

  /** Resolves when the hub has confirmed the subscription with a cursor. */
  connect(base: string): Promise<void> {
    this.#socket?.close();
    const socket = new WebSocket(`${base.replace(/^http/, 'ws')}/ws/socket`);
    this.#socket = socket;
    const params = { after: this.#cursor };
    socket.onopen = () => socket.send(JSON.stringify({ event: 'subscribe', topic: 'fence_events', params }));
    return new Promise((resolve) => {
      socket.onmessage = ({ data }) => {
        if (this.#socket !== socket) return;
        const { event, payload, cursor } = JSON.parse(String(data));
        if (event !== 'message') return;
        for (const each of payload as readonly FenceEvent[]) this.events.push({ ...each, cursor });
        this.#cursor = cursor;
        if (this.events.at(-1)?.cursor === this.#wanted?.cursor) this.#wanted?.resolve();
        resolve();
      };
    });
  }

  /** Resolves when the event with this cursor was received. */
  received(cursor: string): Promise<void> {
    if (this.#cursor === cursor) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wanted = { cursor, resolve };
    });
  }

  close(): void {
    this.#socket?.close();
  }
}

/** Returns all fence events of the log, in order. */
async function eventsOf(hub: HubProcess): Promise<readonly LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for (let after = ''; ; ) {
    const reply = await hub.get(`/events?topic=fence_events&limit=1000${after === '' ? '' : `&after=${after}`}`);
    assert.ok(reply?.status === 200, JSON.stringify(reply?.body));
    const { events, next, has_more: hasMore } = reply.body as Page;
    found.push(...events.map(({ cursor, payload }) => ({ ...payload, cursor })));
    if (!hasMore) return found;
    after = encodeURIComponent(next);
  }
}

function receivedOf({ body }: ReceivedRequest): LoggedEvent {
  const { cursor, data } = JSON.parse(body) as { readonly cursor: string; readonly data: FenceEvent };
  return { ...data, cursor };
}

/** Resolves when the webhook has each event. */
async function receivesAll(target: WebhookServer, logged: readonly LoggedEvent[]): Promise<void> {
  const missing = new Set(logged.map(({ cursor }) => cursor));
  for (let seen = 0; missing.size > 0; seen++) {
    await target.until(seen + 1);
    const request = target.requests[seen];
    if (request !== undefined) missing.delete(receivedOf(request).cursor);
  }
}

/** Events of an object that the webhook received before an earlier one. */
function problemsOfWebhook(logged: readonly LoggedEvent[], delivered: readonly LoggedEvent[]): readonly string[] {
  const next = new Map<string, number>();
  const ofProvider = Map.groupBy(logged, (event) => event.provider_id);
  const index = new Map([...ofProvider.values()].flatMap((events) => events.map(({ cursor }, i) => [cursor, i])));
  return delivered.flatMap(({ cursor, provider_id: provider }) => {
    const [found, wanted] = [index.get(cursor), next.get(provider) ?? 0];
    if (found === undefined) return [`the webhook received ${cursor}, which is not in the log`];
    if (found > wanted)
      return [`the webhook received ${cursor} of ${provider} before ${found - wanted} earlier events`];
    next.set(provider, Math.max(wanted, found + 1));
    return [];
  });
}

/** Differences between the log and what the subscriber received. */
function problemsOfSubscriber(logged: readonly LoggedEvent[], received: readonly LoggedEvent[]): readonly string[] {
  const length = Math.max(logged.length, received.length);
  const i = Array.from({ length }, (_, at) => at).find((at) => logged[at]?.id !== received[at]?.id);
  if (i === undefined) return [];
  const counts = `${received.length} of ${logged.length}`;
  return [`event ${i} of the subscriber is ${received[i]?.cursor}, expected ${logged[i]?.cursor}; it has ${counts}`];
}
