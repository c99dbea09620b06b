import type { SentLocation } from './clients.ts';
import type { Heard } from './listener.ts';
import { type Oracle, type Told, toldOf } from './oracle.ts';

/** Each acknowledged location was processed; none of them twice by the same owner. */
export function checkLocations(
  sent: readonly SentLocation[],
  { processed }: Oracle,
  wrong: (what: string) => void,
): void {
  const by = Map.groupBy(processed, ({ speed }) => speed);
  for (const { speed, provider, isAcknowledged } of sent) {
    const owners = (by.get(speed) ?? []).map(({ incarnation }) => incarnation);
    if (isAcknowledged && owners.length === 0) wrong(`location ${speed} of ${provider} was acknowledged and is lost`);
    if (new Set(owners).size < owners.length) wrong(`location ${speed} of ${provider} was processed by ${owners}`);
  }
}

/** Each subscription has got of each object what was told from some moment on, without a gap, in order, and once. */
export function checkEvents(heard: readonly Heard[], { told }: Oracle, wrong: (what: string) => void): void {
  const ids = new Map<string, string>();
  for (const { hub, topic, openedMs, texts, isOpen } of heard) {
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
      if (problem !== undefined) {
        const from = expected.findLastIndex(({ atMs }) => atMs < openedMs) + 1;
        const list = expected.slice(Math.max(0, from - 3)).map(({ what, atMs }) => `${what}@${Math.round(atMs)}`);
        wrong(
          `${hub} ${topic} of ${of} since ${Math.round(openedMs)}, ${isOpen ? 'open' : 'ended'}: ${problem}:\n  got ${its.join(', ')}\n  told ${list.join(', ')}`,
        );
      }
    }
    if (topic === 'fence_events') checkIds(texts, ids, (what) => wrong(`${hub}: ${what}`));
  }
}

function problemOf(
  got: readonly string[],
  expected: readonly Told[],
  { openedMs, isOpen }: Pick<Heard, 'openedMs' | 'isOpen'>,
): string | undefined {
  const due = expected.findIndex(({ atMs }) => atMs >= openedMs);
  const latest = due < 0 ? expected.length : due;
  const fits = (from: number): boolean => got.every((what, i) => expected[from + i]?.what === what);
  if (isOpen) {
    const from = expected.length - got.length;
    if (from > latest) return 'it has missed some';
    return from >= 0 && fits(from) ? undefined : 'it has got others';
  }
  for (let from = 0; from <= latest; from++) if (fits(from)) return undefined;
  return 'it has got others';
}

/** Ids are those of one event each, and a subscription gets each once. */
function checkIds(texts: readonly string[], ids: Map<string, string>, wrong: (what: string) => void): void {
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
