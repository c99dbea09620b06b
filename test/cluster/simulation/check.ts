import type { SentLocation } from './clients.ts';
import type { Heard } from './listener.ts';
import { type Oracle, type Told, toldOf } from './oracle.ts';

export interface ProcessedLocation {
  /** What tells it from others. */
  readonly speed: number;
  readonly incarnation: string;
}

/** Each acknowledged location was processed, or has changed nothing (`idle`); none of them twice. */
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

/** Each subscription has got of each object what was told from some moment on, without a gap, in order, and once. */
export function checkEvents(heard: readonly Heard[], { told }: Oracle, wrong: (what: string) => void): void {
  for (const { hub, topic, openedMs, endedMs, texts } of heard) {
    const isOpen = endedMs === Infinity;
    const all = Map.groupBy(
      told.filter((each) => each.topic === topic),
      ({ of }) => of,
    );
    const got = Map.groupBy(
      texts.map((text) => toldOf(topic, text)),
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

function problemOf(
  got: readonly string[],
  expected: readonly Told[],
  { openedMs, isOpen }: { openedMs: number; isOpen: boolean },
): string | undefined {
  const due = expected.findIndex(({ atMs }) => atMs >= openedMs);
  const latest = due < 0 ? expected.length : due;
  const least = isOpen ? expected.length - got.length : 0;
  const missed = isOpen && least > latest ? `it has missed ${shown(expected.slice(latest, least))}` : undefined;
  let [most, other] = [-1, 'it has got too many'];
  for (let from = Math.max(0, least); from <= (isOpen ? least : latest); from++) {
    const fit = fitting(got, expected, from);
    if (fit === got.length) return missed;
    if (fit <= most) continue;
    most = fit;
    const [first, last] = [Math.max(0, fit - 3), fit + 4];
    other = `behind ${fit} of ${got.length} it has got ${got.slice(first, last)}, not ${shown(expected.slice(from + first, from + last))}`;
  }
  return missed ?? other;
}

/** How many of them are as expected from there on. */
function fitting(got: readonly string[], expected: readonly Told[], from: number): number {
  const at = got.findIndex((what, i) => expected[from + i]?.what !== what);
  return at < 0 ? got.length : at;
}

function shown(told: readonly Told[]): string {
  return told.map(({ what, atMs }) => `${what} at ${Math.round(atMs)}`).join();
}

/** Ids of fence events are those of one event each, and a subscription gets each once; entries and exits take turns. */
export function checkIds(heard: readonly Heard[], wrong: (what: string) => void): void {
  const ids = new Map<string, string>();
  for (const { hub, topic, texts } of heard) {
    if (topic === 'fence_events') checkTexts(texts, ids, (what) => wrong(`${hub}: ${what}`));
  }
}

function checkTexts(texts: readonly string[], ids: Map<string, string>, wrong: (what: string) => void): void {
  const own = new Set<string>();
  const inside = new Map<string, string>();
  for (const text of texts) {
    const { id, fence_id, trackable_id, provider_id, event_type } = JSON.parse(text);
    if (own.has(id)) wrong(`event ${id} came twice`);
    own.add(id);
    if ((ids.get(id) ?? text) !== text) wrong(`two events have id ${id}: ${text} and ${ids.get(id)}`);
    ids.set(id, text);
    const key = `${fence_id} ${trackable_id ?? provider_id}`;
    if (inside.get(key) === event_type) wrong(`${event_type} of ${key} came twice, one behind the other`);
    inside.set(key, event_type);
  }
}
