import type { LoggedEvent } from '../hub/event_log.ts';

/** What moves, and is counted. */
export type Counted = 'trackables' | 'providers';

/** Objects in a fence according to a response of the hub. */
export interface Contents {
  readonly ids: readonly string[];
  /** Key of the last event that was heard before the answer. */
  readonly key: number;
}

/** From when on how many were inside. */
export interface Step {
  readonly atMs: number;
  readonly count: number;
}

/** An object has entered or left. */
export interface Passage {
  readonly key: number;
  readonly atMs: number;
  readonly id: string;
  readonly isEntry: boolean;
}

/** Entries and exits by fence, in the order in which they were heard. */
export function passagesOf(events: readonly LoggedEvent[], counted: Counted): ReadonlyMap<string, readonly Passage[]> {
  const byFence = new Map<string, Passage[]>();
  for (const logged of events) {
    if (logged.is !== 'entry' && logged.is !== 'exit') continue;
    const { key, atMs, event } = logged;
    const id = counted === 'trackables' ? event.trackable_id : event.provider_id;
    if (id == null) continue;
    const passages = byFence.get(event.fence_id) ?? [];
    byFence.set(event.fence_id, passages);
    passages.push({ key, atMs, id, isEntry: logged.is === 'entry' });
  }
  return byFence;
}

/**
 * How many were inside over time: back from what the hub has answered to when it was first listened to, and forward to
 * now. An event that the answer already knew of changes nothing, since it is a set that is counted. What is heard after
 * the answer counts whatever its time says: clocks differ, and locations may come late.
 */
export function stepsOf(
  contents: Contents,
  passages: readonly Passage[],
  { sinceMs }: { readonly sinceMs: number },
): readonly Step[] {
  const isBefore = ({ key, atMs }: Passage): boolean => key <= contents.key && atMs >= sinceMs;
  const inside = new Set(contents.ids);
  const before: Step[] = [];
  for (const { atMs, id, isEntry } of passages.filter(isBefore).reverse()) {
    before.push({ atMs, count: inside.size });
    if (isEntry) inside.delete(id);
    else inside.add(id);
  }
  const steps: Step[] = [{ atMs: sinceMs, count: inside.size }, ...before.reverse()];
  const now = new Set(contents.ids);
  for (const { atMs, id, isEntry } of passages.filter(({ key }) => key > contents.key)) {
    if (isEntry) now.add(id);
    else now.delete(id);
    steps.push({ atMs: Math.max(atMs, sinceMs), count: now.size });
  }
  // Each has the time of its location, and these may come in another order.
  return steps.sort((a, b) => a.atMs - b.atMs);
}

/** The count at a time; null before the first step. */
export function countAt(steps: readonly Step[], atMs: number): number | null {
  let found: number | null = null;
  for (const step of steps) {
    if (step.atMs > atMs) break;
    found = step.count;
  }
  return found;
}
