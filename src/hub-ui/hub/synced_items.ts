import { type ReadonlySignal, signal } from '@preact/signals';
import type { CHANGE_TYPES } from '../../model/events.ts';

/** A change of an item. */
export interface ItemChange<T> {
  readonly event_type: (typeof CHANGE_TYPES)[number];
  readonly id: string;
  readonly object: T;
}

/** Items by id, synchronized with the hub by a list and the changes during and after its request. */
export interface SyncedItems<T> {
  readonly items: ReadonlySignal<ReadonlyMap<string, T>>;
  /** Receives changes. They are applied in at most one update every 250 ms. */
  receive(changes: readonly ItemChange<T>[]): void;
  /** Returns the item after all changes received; undefined for an unknown id. */
  latest(id: string): T | undefined;
  /**
   * Replaces the items by the requested list and the changes during the request. Resolves to false if a later request
   * has begun. Rejects with the error of the request.
   */
  load(request: () => Promise<readonly T[]>): Promise<boolean>;
}

/** Minimum interval between updates of the items. An import causes thousands of changes, and each update redraws pages. */
const APPLY_MS = 250;

type Changes<T> = Map<string, ItemChange<T>>;

/** Returns an empty set of synchronized items. */
export function syncedItems<T extends { readonly id: string }>(): SyncedItems<T> {
  const items = signal<ReadonlyMap<string, T>>(new Map());
  /** Last change of each item during a list request, which the response may or may not include. */
  let since: Changes<T> | undefined;
  /** Last change of each item that is not applied yet, and the time of the last application. */
  let pending: Changes<T> = new Map();
  let appliedMs = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const applyPending = (): void => {
    clearTimeout(timer);
    timer = undefined;
    appliedMs = performance.now();
    const changes = pending;
    pending = new Map();
    items.value = afterChanges(items.value, changes);
  };
  return {
    items,
    receive(changes) {
      for (const change of changes) {
        since?.set(change.id, change);
        pending.set(change.id, change);
      }
      const waitMs = appliedMs + APPLY_MS - performance.now();
      if (waitMs <= 0) applyPending();
      else timer ??= setTimeout(applyPending, waitMs);
    },
    latest(id) {
      const change = pending.get(id);
      if (change === undefined) return items.peek().get(id);
      return change.event_type === 'delete' ? undefined : change.object;
    },
    async load(request) {
      const changes: Changes<T> = new Map();
      since = changes;
      try {
        const listed = await request();
        if (since !== changes) return false;
        // Pending changes are in the list or in `changes`.
        pending = new Map();
        items.value = afterChanges(new Map(listed.map((item) => [item.id, item])), changes);
        return true;
      } catch (error) {
        if (since !== changes) return false;
        throw error;
      } finally {
        if (since === changes) since = undefined;
      }
    },
  };
}

function afterChanges<T>(items: ReadonlyMap<string, T>, changes: Changes<T>): ReadonlyMap<string, T> {
  const next = new Map(items);
  for (const { event_type: type, id, object } of changes.values()) {
    if (type === 'delete') next.delete(id);
    else next.set(id, object);
  }
  return next;
}
