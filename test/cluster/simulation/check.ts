import type { ConfigBody } from '../../../src/cluster/config/config_record.ts';
import type { LoggedEvent } from '../../../src/model/logged_event.ts';
import type { SentLocation } from './clients.ts';
import { departuresIn, type KeptStep } from './journaled_steps.ts';
import type { ObservedSubscription } from './listener.ts';
import { LogOwners } from './log_owners.ts';
import { type Oracle, type PublishedEvent, describeEvent } from './oracle.ts';
import type { Timeline } from './timelines.ts';

/** Ongoing collisions are published repeatedly. */
const [BEGINS, GOES_ON] = ['collision_start', 'colliding'];

/** Records that the shards are notified of, and that may move objects to other partitions. */
const CHANGES: readonly string[] = ['change', 'regroup'];

export interface ProcessedLocation {
  /** Identifies the location. */
  readonly speed: number;
  readonly incarnation: string;
}

/** Each acknowledged location was processed, or has changed nothing (`idle`); none was processed twice. */
export function checkLocations(
  sent: readonly SentLocation[],
  { processed, idle }: { readonly processed: readonly ProcessedLocation[]; readonly idle: ReadonlySet<number> },
  wrong: (what: string) => void,
): void {
  const by = Map.groupBy(processed, ({ speed }) => speed);
  for (const { speed, provider, isAcknowledged } of sent) {
    const owners = (by.get(speed) ?? []).map(({ incarnation }) => incarnation);
    if (isAcknowledged && owners.length === 0 && !idle.has(speed))
      wrong(`location ${speed} of ${provider} was acknowledged and is lost`);
    if (owners.length > 1) wrong(`location ${speed} of ${provider} was processed by ${owners}`);
  }
}

/**
 * The hub that has recorded a location owned its provider, by the configuration that its shard had. Shards are notified of
 * changes of their objects, not of joins, removals and maps: any map counts until the next record that they get.
 */
export function checkOwners(
  steps: readonly KeptStep[],
  config: readonly ConfigBody[],
  wrong: (what: string) => void,
): void {
  const recorded = steps.flatMap((step) => (step.recordedWith === undefined ? [] : [recordedIn(step)]));
  const all = new Set(recorded.flatMap(({ providers }) => [...providers]));
  const owning = new LogOwners();
  const spans: { from: number; readonly owners: Set<string> }[] = [{ from: 0, owners: new Set() }];
  for (const [index, body] of config.entries()) {
    owning.apply(body);
    if (CHANGES.includes(body.kind)) spans.push({ from: index + 1, owners: new Set() });
    for (const id of all) spans.at(-1)?.owners.add(`${id} ${owning.ownerOf('provider', id)}`);
  }
  for (const { incarnation, providers, sequence } of recorded) {
    const span = spans.findLast(({ from }) => from <= sequence);
    for (const id of providers) {
      if (span?.owners.has(`${id} ${incarnation}`)) continue;
      wrong(`${incarnation} has recorded ${id} at record ${sequence}, where it does not own it`);
    }
  }
}

/** A step reflects all records that its shard got. Objects released because of the last one were its own before. */
function recordedIn({ incarnation, items, recordedWith }: KeptStep) {
  const providers = new Set(
    items.flatMap((item, at) => {
      if (item.kind !== 'location') return [];
      const isReleased = departuresIn({ items }).some(
        (departure) => departure.at > at && departure.which.has(item.providerId),
      );
      return isReleased ? [] : [item.providerId];
    }),
  );
  return { incarnation, providers, sequence: recordedWith?.config ?? 0 };
}

/**
 * No hub takes over an object while its previous owner can still record something of it: that one is sealed, or has released
 * it.
 */
export function checkTakeovers(
  timelines: readonly Timeline[],
  sealedAtMs: (incarnation: string) => number,
  wrong: (what: string) => void,
): void {
  for (const { objects, takeovers } of timelines) {
    for (const [i, { by, atMs }] of takeovers.entries()) {
      const before = takeovers[i - 1]?.by;
      if (before === undefined || by === undefined || before === by || sealedAtMs(before) <= atMs) continue;
      wrong(`${by} has taken over ${[...objects]} from ${before} at ${Math.round(atMs)}, which was not sealed`);
    }
  }
}

/** Each subscription has received, of each object, all events from some moment on, without a gap, in order, and once. */
export function checkEvents(
  observed: readonly ObservedSubscription[],
  { published }: Oracle,
  wrong: (what: string) => void,
): void {
  for (const { hub, topic, openedMs, endedMs, texts } of observed) {
    if (topic === 'collision_events') continue;
    const isOpen = endedMs === Infinity;
    const all = Map.groupBy(
      published.filter((each) => each.topic === topic),
      ({ of }) => of,
    );
    const got = Map.groupBy(
      texts.map((text) => describeEvent(topic, text)),
      ({ of }) => of,
    );
    for (const of of new Set([...all.keys(), ...got.keys()])) {
      const expected = all.get(of) ?? [];
      const its = (got.get(of) ?? []).map(({ what }) => what);
      const problem = problemOf(its, expected, { openedMs, isOpen });
      if (problem === undefined) continue;
      const state = isOpen ? 'open' : 'ended';
      wrong(`${hub} ${topic} of ${of} since ${Math.round(openedMs)}, ${state}: ${problem}`);
    }
  }
}

/** The log has all fence events of each object, in order, each once. */
export function checkLog(logged: readonly LoggedEvent[], { published }: Oracle, wrong: (what: string) => void): void {
  const expected = Map.groupBy(
    published.filter(({ topic }) => topic === 'fence_events'),
    ({ of }) => of,
  );
  const found = Map.groupBy(
    logged.filter(({ topic }) => topic === 'fence_events').map(({ json }) => describeEvent('fence_events', json)),
    ({ of }) => of,
  );
  for (const of of new Set([...expected.keys(), ...found.keys()])) {
    const all = expected.get(of) ?? [];
    const its = (found.get(of) ?? []).map(({ what }) => what);
    const fit = fitting(its, all, 0);
    if (fit === its.length && fit === all.length) continue;
    const near = `${its.slice(Math.max(0, fit - 3), fit + 4)}, not ${shown(all.slice(Math.max(0, fit - 3), fit + 4))}`;
    wrong(`the log has of ${of}, after ${fit} of ${all.length}: ${near}`);
  }
}

/**
 * Each subscription to fence events has received, of each object, consecutive events of the log; if it is open, up to the last one.
 * The log has all of them, in order (checkLog).
 */
export function checkSubscriptions(
  observed: readonly ObservedSubscription[],
  logged: readonly LoggedEvent[],
  wrong: (what: string) => void,
): void {
  const all = idsByObject(logged.flatMap(({ topic, json }) => (topic === 'fence_events' ? [json] : [])));
  for (const { hub, topic, openedMs, endedMs, texts } of observed) {
    if (topic !== 'fence_events') continue;
    for (const [of, ids] of idsByObject(texts)) {
      const expected = all.get(of) ?? [];
      const first = expected.indexOf(ids[0] as string);
      const due = first < 0 ? [] : expected.slice(first, endedMs === Infinity ? undefined : first + ids.length);
      const at = Array.from({ length: Math.max(ids.length, due.length) }, (_, i) => ids[i] === due[i]).indexOf(false);
      if (at < 0) continue;
      const [its, others] = [ids, due].map((some) => some.slice(Math.max(0, at - 2), at + 3));
      wrong(`${hub} since ${Math.round(openedMs)} has received ${its} of ${of}, but the log has ${others}`);
    }
  }
}

/** Ids of fence events, in order, by their objects. */
function idsByObject(texts: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, string[]>();
  for (const text of texts) {
    const { id, trackable_id: trackable, provider_id: provider } = JSON.parse(text);
    const of = trackable ?? provider;
    ids.set(of, [...(ids.get(of) ?? []), id]);
  }
  return ids;
}

/** No event is in the log twice. */
export function checkLoggedIds(logged: readonly LoggedEvent[], wrong: (what: string) => void): void {
  const known = new Set<string>();
  for (const { topic, json } of logged) {
    const { id, event_type: type, object, collision_type } = JSON.parse(json);
    if (collision_type === 'colliding') continue;
    const key = topic.endsWith('_changes') ? `${topic} ${type} ${id} ${object.name}` : `${topic} ${id}`;
    if (known.has(key)) wrong(`the log has ${key} twice`);
    known.add(key);
  }
}

function problemOf(
  got: readonly string[],
  expected: readonly PublishedEvent[],
  { openedMs, isOpen }: { openedMs: number; isOpen: boolean },
): string | undefined {
  const due = expected.findIndex(({ atMs }) => atMs >= openedMs);
  const latest = due < 0 ? expected.length : due;
  const least = isOpen ? expected.length - got.length : 0;
  const missed = isOpen && least > latest ? `it has missed ${shown(expected.slice(latest, least))}` : undefined;
  let [most, other] = [-1, 'it has received too many'];
  for (let from = Math.max(0, least); from <= (isOpen ? least : latest); from++) {
    const fit = fitting(got, expected, from);
    if (fit === got.length) return missed;
    if (fit <= most) continue;
    most = fit;
    const [first, last] = [Math.max(0, fit - 3), fit + 4];
    other = `after ${fit} of ${got.length} it has received ${got.slice(first, last)}, not ${shown(expected.slice(from + first, from + last))}`;
  }
  return missed ?? other;
}

/** Number of events that match the expected ones from there on. */
function fitting(got: readonly string[], expected: readonly PublishedEvent[], from: number): number {
  const at = got.findIndex((what, i) => expected[from + i]?.what !== what);
  return at < 0 ? got.length : at;
}

function shown(published: readonly PublishedEvent[]): string {
  return published.map(({ what, atMs }) => `${what} at ${Math.round(atMs)}`).join();
}

/**
 * Each id belongs to one fence event or collision, and a subscription gets each once; entries and exits alternate, as do starts
 * and ends.
 */
export function checkIds(observed: readonly ObservedSubscription[], wrong: (what: string) => void): void {
  const ids = new Map<string, string>();
  for (const { hub, topic, texts } of observed) {
    if (topic !== 'location_updates') checkTexts(texts, ids, (what) => wrong(`${hub}: ${what}`));
  }
}

function checkTexts(texts: readonly string[], ids: Map<string, string>, wrong: (what: string) => void): void {
  const own = new Set<string>();
  const inside = new Map<string, string>();
  for (const text of texts) {
    const { id, what, type } = turnOf(text);
    if (own.has(id)) wrong(`event ${id} came twice`);
    own.add(id);
    if ((ids.get(id) ?? text) !== text) wrong(`two events have id ${id}: ${text} and ${ids.get(id)}`);
    ids.set(id, text);
    if (type !== GOES_ON && inside.get(what) === type) wrong(`${type} of ${what} came twice in sequence`);
    inside.set(what, type === GOES_ON ? BEGINS : type);
  }
}

/** The alternating type of an event, and its subject. */
function turnOf(text: string): { readonly id: string; readonly what: string; readonly type: string } {
  const event = JSON.parse(text);
  const { id, fence_id: fence, trackable_id: trackable, provider_id: provider, event_type: type } = event;
  if (type !== undefined) return { id, what: `${fence} ${trackable ?? provider}`, type };
  const pair = event.collisions.map(({ id: one }: { id: string }) => one).toSorted();
  return { id, what: `collision of ${pair}`, type: event.collision_type };
}
