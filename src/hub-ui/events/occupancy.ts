import type { LoggedEvent } from '../hub/event_log.ts';

/** Kind of the counted objects. */
export type Counted = 'trackables' | 'providers';

/** Objects in a fence according to a response of the hub. */
export interface Contents {
  readonly ids: readonly string[];
  /** Key of the last event that was received before the response. */
  readonly key: number;
}

/** Number of objects inside from a time on. */
export interface Step {
  readonly atMs: number;
  readonly count: number;
}

/** Entry or exit of an object. */
export interface Passage {
  readonly key: number;
  readonly atMs: number;
  readonly id: string;
  readonly isEntry: boolean;
}

/** Entries and exits by fence, in the order of arrival. */
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
 * Occupancy of a fence over time. The response of the hub is the fixed point: entries and exits before it are undone back to
 * `sinceMs`, later ones are applied up to now. Contents are sets, so an event that the response already includes changes
 * nothing. Arrival decides what is later, not the event time: clocks differ, and locations may be late.
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
  // Event times may be out of order.
  return steps.sort((a, b) => a.atMs - b.atMs);
}

/** Returns the count at a time; null before the first step. */
export function countAt(steps: readonly Step[], atMs: number): number | null {
  let found: number | null = null;
  for (const step of steps) {
    if (step.atMs > atMs) break;
    found = step.count;
  }
  return found;
}
