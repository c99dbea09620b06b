import { signal } from '@preact/signals';
import type { ChangeEvent, CollisionEvent, FenceEvent } from '../../model/events.ts';
import type { Zone } from '../../model/zone.ts';
import { t } from '../languages/language.ts';
import { KINDS, type Kind, SINGULAR } from './entity_kinds.ts';
import { subscribe } from './live.ts';

/** An event that the page has received since it was opened. `size` is the number of characters of its JSON. */
export type LoggedEvent = { readonly key: number; readonly atMs: number; readonly size: number } & (
  | { readonly is: 'entry' | 'exit'; readonly event: FenceEvent }
  | { readonly is: 'collision_start' | 'collision_end'; readonly event: CollisionEvent }
  | {
      readonly is: 'create' | 'update' | 'delete';
      readonly kind: Kind;
      readonly event: ChangeEvent;
      /** Number of updates that this entry combines: updates of one entity in quick succession share an entry. */
      readonly times: number;
    }
);

type NewEvent = LoggedEvent extends infer H ? (H extends LoggedEvent ? Omit<H, 'key' | 'size'> : never) : never;

/** Logged events, oldest first. */
export const loggedEvents = signal<readonly LoggedEvent[]>([]);
/** Start of the period for which the log has all fence events. */
export const loggedSinceMs = signal(Date.now());
/** Topics whose subscriptions the hub has rejected. */
export const rejectedTopics = signal<readonly string[]>([]);

/** Limits of the log. Events contain the properties of their fence or entity, so a count alone does not bound the memory. */
export const LOG_BOUNDS = { events: 10_000, characters: 2_000_000 } as const;
/** Factor by which the log may exceed its limits until the next rendering. */
const SLACK = 1.25;
/** Minimum interval between renderings. */
const SHOW_MS = 200;
const TOGETHER_MS = 5_000;

let log: LoggedEvent[] = [];
/** Sum of the sizes in `log`. */
let characters = 0;
let lastKey = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
/** Key of the last update of each entity. */
const updates = new Map<string, number>();

/** Starts the event log, on every page: users expect to see events from before they opened the log page. */
export function recordEvents(): void {
  follow('fence_events', {}, (event: FenceEvent) => {
    const isEntry = event.event_type === 'region_entry';
    add({ is: isEntry ? 'entry' : 'exit', atMs: timeOf(isEntry ? event.entry_time : event.exit_time), event });
  });
  for (const is of ['collision_start', 'collision_end'] as const) {
    follow('collision_events', { collision_type: is }, (event: CollisionEvent) => {
      add({ is, atMs: timeOf(is === 'collision_start' ? event.start_time : event.end_time), event });
    });
  }
  for (const kind of KINDS) {
    follow(`${SINGULAR[kind]}_changes`, {}, (received: ChangeEvent) => {
      const event = kind === 'zones' ? withoutImage(received) : received;
      const change = { is: event.event_type, atMs: timeOf(event.timestamp), kind, event, times: 1 };
      if (change.is !== 'update' || !merged(change)) add(change);
    });
  }
}

function follow<E>(topic: string, params: Readonly<Record<string, unknown>>, take: (event: E) => void): void {
  subscribe(topic, params, {
    subscribed() {
      // The hub does not resend the events of an interruption.
      if (topic === 'fence_events') loggedSinceMs.value = Date.now();
      rejectedTopics.value = rejectedTopics.value.filter((refused) => refused !== topic);
    },
    rejected() {
      if (!rejectedTopics.value.includes(topic)) rejectedTopics.value = [...rejectedTopics.value, topic];
    },
    events(payload: readonly E[]) {
      for (const event of payload) take(event);
    },
  });
}

function add(added: NewEvent): void {
  lastKey++;
  const size = sizeOf(added.event);
  log.push({ ...added, key: lastKey, size });
  characters += size;
  if ('kind' in added && added.is === 'update') updates.set(`${added.kind} ${added.event.id}`, lastKey);
  // Browsers run timers of a hidden page as rarely as once a minute.
  if (log.length > SLACK * LOG_BOUNDS.events || characters > SLACK * LOG_BOUNDS.characters) dropOldest();
  show();
}

/** Drops the oldest events until the log is within its limits. The newest event always stays. */
function dropOldest(): void {
  let dropped = Math.max(0, log.length - LOG_BOUNDS.events);
  for (let i = 0; i < dropped; i++) characters -= log[i]?.size ?? 0;
  for (; characters > LOG_BOUNDS.characters && dropped < log.length - 1; dropped++)
    characters -= log[dropped]?.size ?? 0;
  if (dropped > 0) {
    log = log.slice(dropped);
    loggedSinceMs.value = Math.max(loggedSinceMs.value, log[0]?.atMs ?? 0);
  }
  if (updates.size > LOG_BOUNDS.events) updates.clear();
}

function sizeOf(event: object): number {
  return JSON.stringify(event).length;
}

/** Shortens the floor plan in a change of a zone: an image of up to some megabytes is too large for thousands of entries. */
function withoutImage(event: ChangeEvent): ChangeEvent {
  const { properties, ...zone } = (event.object ?? {}) as Partial<Zone>;
  const plan = properties?.['floor_plan'] as { readonly image?: unknown } | null | undefined;
  if (typeof plan?.image !== 'string') return event;
  const image = t('{start}… ({count} characters)', { start: plan.image.slice(0, 40), count: plan.image.length });
  return {
    ...event,
    object: { ...zone, properties: { ...properties, floor_plan: { ...plan, image } } },
  } as ChangeEvent;
}

/** Merges an update into a recent entry of the same entity. Returns whether such an entry exists. */
function merged(change: Extract<NewEvent, { kind: Kind }>): boolean {
  const first = log[0]?.key ?? 0;
  const index = (updates.get(`${change.kind} ${change.event.id}`) ?? -1) - first;
  const before = log[index];
  if (before === undefined || !('times' in before) || change.atMs - before.atMs > TOGETHER_MS) return false;
  const size = sizeOf(change.event);
  characters += size - before.size;
  log[index] = { ...before, event: change.event, size, times: before.times + 1 };
  show();
  return true;
}

function show(): void {
  if (timer !== undefined) return;
  timer = setTimeout(() => {
    timer = undefined;
    dropOldest();
    loggedEvents.value = [...log];
  }, SHOW_MS);
}

/** Clears the log. */
export function clearEvents(): void {
  log = [];
  characters = 0;
  loggedEvents.value = [];
  loggedSinceMs.value = Date.now();
}

function timeOf(text: string | null | undefined): number {
  const atMs = Date.parse(text ?? '');
  return Number.isFinite(atMs) ? atMs : Date.now();
}
