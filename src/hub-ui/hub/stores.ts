import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ChangeEvent } from '../../model/events.ts';
import { errorText } from '../problems/sentences.ts';
import { can } from './access.ts';
import { type Entities, type Kind, SINGULAR } from './entity_kinds.ts';
import { subscribe, type TopicSubscriber } from './live.ts';
import { listEntities, RequestError } from './rest.ts';
import { isTransient } from './retry.ts';

export type Items<K extends Kind> = ReadonlyMap<string, Entities[K]>;

/** Entities of a kind, synchronized with the hub by its change events. */
export interface EntityStore<K extends Kind> {
  readonly kind: K;
  readonly items: ReadonlySignal<Items<K>>;
  /** `waiting` until the first list has arrived. */
  readonly state: ReadonlySignal<'waiting' | 'ready' | 'failed'>;
  /** Error of the last list request. */
  readonly problem: ReadonlySignal<string | undefined>;
  /** Starts synchronization; returns a function that stops it. The items stay and are reloaded at the next start. */
  follow(): () => void;
  reload(): Promise<void>;
}

/** Minimum interval between updates of the items. An import causes thousands of changes, and each update redraws pages. */
const APPLY_MS = 250;
/** Delay before a list request is repeated after its retries have failed. */
const RELOAD_MS = 5_000;

const stores = new Map<Kind, EntityStore<Kind>>();

/** Returns the shared store of a kind. */
export function storeOf<K extends Kind>(kind: K): EntityStore<K> {
  const store = stores.get(kind) ?? (makeStore(kind) as unknown as EntityStore<Kind>);
  stores.set(kind, store);
  return store as unknown as EntityStore<K>;
}

/** Returns the entities of a kind and redraws the component when one of them changes. */
export function useEntities<K extends Kind>(kind: K): Items<K> {
  const store = storeOf(kind);
  useEffect(() => store.follow(), [store]);
  return store.items.value;
}

/** Items by id after change events of their kind. */
export function afterChanges<T>(
  items: ReadonlyMap<string, T>,
  changes: readonly Pick<ChangeEvent, 'event_type' | 'id' | 'object'>[],
): ReadonlyMap<string, T> {
  const next = new Map(items);
  for (const { event_type: type, id, object } of changes) {
    if (type === 'delete') next.delete(id);
    else next.set(id, object as T);
  }
  return next;
}

function makeStore<K extends Kind>(kind: K): EntityStore<K> {
  const items: Signal<Items<K>> = signal(new Map());
  const state = signal<'waiting' | 'ready' | 'failed'>('waiting');
  const problem = signal<string | undefined>(undefined);
  /** Changes received during a list request, which the response may or may not include. */
  let since: ChangeEvent[] | undefined;
  /** Changes to apply, and the time of the last application. */
  let pending: ChangeEvent[] = [];
  let appliedMs = Number.NEGATIVE_INFINITY;
  let applyTimer: ReturnType<typeof setTimeout> | undefined;
  let loads = 0;
  let followers = 0;
  let reloading: ReturnType<typeof setTimeout> | undefined;

  const applyPending = (): void => {
    clearTimeout(applyTimer);
    applyTimer = undefined;
    appliedMs = performance.now();
    const changes = pending;
    pending = [];
    items.value = afterChanges(items.value, changes);
  };
  const reload = async (): Promise<void> => {
    if (!can('READ', `/${kind}/summary`)) {
      // The user may not read this kind.
      state.value = 'ready';
      return;
    }
    clearTimeout(reloading);
    loads++;
    const load = loads;
    since = [];
    try {
      const listed = await listEntities(kind);
      if (load !== loads) return;
      // Pending changes are in the list or in `since`.
      pending = [];
      items.value = afterChanges(new Map(listed.map((entity) => [entity.id, entity])), since);
      state.value = 'ready';
      problem.value = undefined;
    } catch (error) {
      if (load !== loads) return;
      problem.value = errorText(error);
      if (state.value === 'waiting') state.value = 'failed';
      const isRetried = error instanceof RequestError && isTransient(error.status) && followers > 0;
      if (isRetried) reloading = setTimeout(() => void reload(), RELOAD_MS);
    }
    since = undefined;
  };
  const subscriber: TopicSubscriber = {
    subscribed: () => void reload(),
    events(changes: readonly ChangeEvent[]) {
      since?.push(...changes);
      pending.push(...changes);
      const waitMs = appliedMs + APPLY_MS - performance.now();
      if (waitMs <= 0) applyPending();
      else applyTimer ??= setTimeout(applyPending, waitMs);
    },
    // A user without permission to subscribe may still read the list.
    rejected: () => void reload(),
  };
  let unsubscribe: (() => void) | undefined;
  const follow = (): (() => void) => {
    followers++;
    unsubscribe ??= subscribe(`${SINGULAR[kind]}_changes`, {}, subscriber);
    return () => {
      followers--;
      if (followers > 0) return;
      clearTimeout(reloading);
      unsubscribe?.();
      unsubscribe = undefined;
    };
  };
  return { kind, items, state, problem, follow, reload };
}
