import { setTimeout as delay } from 'node:timers/promises';
import { type AtEnd, fenceOf, locationOf, randomFrom } from '../durability/hub_process.ts';
import type { KilledHubs } from './killed_hubs.ts';
import type { Known, SdkRun, Sent } from './sdk_run.ts';

const FENCE = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f02';
const TRACKABLE = '0b680db2-b39b-45be-be77-40d7d2296cb4';
const PROVIDERS = Array.from({ length: 8 }, (_, i) => `tag-${i}`);
/** Time in which a picture becomes equal at quiescence. */
const SETTLE_MS = 20_000;
const POLL_MS = 25;
const STEP_MS = 15;

export interface SdkRounds {
  readonly hubs: KilledHubs;
  readonly start: (url: string, atEnd: AtEnd) => Promise<SdkRun>;
  readonly seed: number;
  /** Time between two kills, in milliseconds, on average. */
  readonly everyMs: number;
  readonly kills: number;
  readonly atEnd: AtEnd;
  done?(round: number): void;
}

export interface SdkFindings {
  readonly kills: number;
  readonly published: number;
  readonly events: number;
  /** Rounds after which the picture was compared with the hub. */
  readonly quiescences: number;
  readonly problems: readonly string[];
}

/**
 * Kills a hub in the middle of locations, again and again, while a client with an SDK publishes and subscribes. After each
 * round the client stops publishing, and its picture must become that of the hub. In the end, it must have received each
 * fence event of the hub's log once, in order.
 */
export async function runSdkRounds({
  hubs,
  start,
  seed,
  everyMs,
  kills,
  atEnd,
  done,
}: SdkRounds): Promise<SdkFindings> {
  const random = randomFrom(seed);
  const client = await start(hubs.base, atEnd);
  await hubs.request('POST', '/fences', fenceOf(FENCE));
  await hubs.request('POST', '/trackables', { id: TRACKABLE, type: 'omlox', location_providers: [PROVIDERS[0]] });
  const problems: string[] = [];
  let published = 0;
  for (let round = 0; round <= kills; round++) {
    const lengthMs = everyMs * (0.5 + random());
    const endMs = performance.now() + lengthMs;
    const killMs = endMs - lengthMs * random();
    let restarting: Promise<void> | undefined;
    const pending: Promise<void>[] = [];
    while (performance.now() < endMs) {
      const locations = PROVIDERS.filter(() => random() < 0.5).map((provider): Sent => {
        return locationOf(provider, random() < 0.5 ? random() * 5 : 100 + random() * 5) as Sent;
      });
      published += locations.length;
      const sent = client.publish(locations);
      // Rejections are evaluated at the end of the round.
      sent.catch(() => undefined);
      pending.push(sent);
      if (random() < 0.02) pending.push(changeZone(hubs, random));
      if (round < kills && restarting === undefined && performance.now() > killMs) {
        restarting = hubs.crash();
      }
      await delay(STEP_MS);
    }
    await restarting;
    const results = await Promise.allSettled(pending);
    for (const result of results) if (result.status === 'rejected') problems.push(`round ${round}: ${result.reason}`);
    const difference = await becomesEqual(hubs, client);
    if (difference !== undefined) problems.push(`round ${round}: ${difference}`);
    done?.(round);
  }
  const logged = await loggedEvents(hubs);
  const { events } = await client.known();
  problems.push(...eventProblems(logged, events));
  await client.close();
  await hubs.stop();
  return { kills, published, events: logged.length, quiescences: kills + 1, problems };
}

/** Creates or deletes a zone, unless the hub is down. */
async function changeZone(hubs: KilledHubs, random: () => number): Promise<void> {
  const id = `7d1e2c30-0000-4000-8000-00000000000${Math.floor(random() * 4)}`;
  const answer = await hubs.request('POST', '/zones', { id, type: 'gps', name: id });
  if (answer !== undefined && answer.status >= 400) await hubs.request('DELETE', `/zones/${id}`);
}

/** Waits until the client knows what the hub knows; otherwise returns a difference. */
async function becomesEqual(hubs: KilledHubs, client: SdkRun): Promise<string | undefined> {
  const endMs = performance.now() + SETTLE_MS;
  for (;;) {
    const [expected, { events: _events, ...known }] = [await knownOf(hubs), await client.known()];
    const texts = [expected, known].map((each) => JSON.stringify(each, sortedKeys));
    if (texts[0] === texts[1]) return undefined;
    if (performance.now() > endMs) return `the hub knows ${texts[0]}, the client ${texts[1]}`;
    await delay(POLL_MS);
  }
}

async function knownOf(hubs: KilledHubs): Promise<Omit<Known, 'events'>> {
  const read = async (path: string) => {
    const answered = await hubs.request('GET', path);
    return answered?.status === 200 ? answered.body : [];
  };
  const members = async (kind: string): Promise<string[]> => {
    const list = (await read(`/fences/${FENCE}/${kind}`)) as { readonly id: string }[];
    return list.map(({ id }) => `${FENCE} ${id}`);
  };
  const locations = (await read('/providers/locations')) as Sent[];
  return {
    locations: Object.fromEntries(locations.map(({ provider_id: id, position }) => [id, position.coordinates])),
    inside: [...(await members('trackables')), ...(await members('providers'))].sort(),
    zones: ((await read('/zones')) as string[]).toSorted(),
  };
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Ids of the fence events in the log of the hub. */
async function loggedEvents(hubs: KilledHubs): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let after = 'oldest'; ; ) {
    const { body } = (await hubs.request('GET', `/events?topic=fence_events&limit=1000&after=${after}`)) ?? {};
    for (const { payload } of body.events) ids.push(payload.id);
    if (!body.has_more) return ids;
    after = body.next;
  }
}

/** The client subscribed before the first event. */
function eventProblems(logged: readonly string[], received: readonly string[]): readonly string[] {
  const [published, taken] = [new Set(logged), new Set(received)];
  const missing = logged.filter((id) => !taken.has(id)).length;
  const doubled = received.length - taken.size;
  const strange = received.filter((id) => !published.has(id)).length;
  const isOrdered = logged.every((id, i) => id === received[i]);
  if (missing + doubled + strange === 0 && isOrdered) return [];
  const order = isOrdered ? '' : ', another order';
  return [
    `of ${logged.length} events ${missing} are missing, ${doubled} doubled, ${strange} unknown to the hub${order}`,
  ];
}
