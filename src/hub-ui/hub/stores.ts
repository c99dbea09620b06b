import { type ReadonlySignal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { errorText } from '../problems/sentences.ts';
import { can } from './access.ts';
import { type Entities, type Kind, SINGULAR } from './entity_kinds.ts';
import { subscribe, type TopicSubscriber } from './live.ts';
import { listEntities, RequestError } from './rest.ts';
import { isTransient } from './retry.ts';
import { type ItemChange, syncedItems } from './synced_items.ts';

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

function makeStore<K extends Kind>(kind: K): EntityStore<K> {
  const { items, receive, load } = syncedItems<Entities[K]>();
  const state = signal<'waiting' | 'ready' | 'failed'>('waiting');
  const problem = signal<string | undefined>(undefined);
  let followers = 0;
  let reloading: ReturnType<typeof setTimeout> | undefined;

  const reload = async (): Promise<void> => {
    if (!can('READ', `/${kind}/summary`)) {
      // The user may not read this kind.
      state.value = 'ready';
      return;
    }
    clearTimeout(reloading);
    try {
      if (!(await load(() => listEntities(kind)))) return;
      state.value = 'ready';
      problem.value = undefined;
    } catch (error) {
      problem.value = errorText(error);
      if (state.value === 'waiting') state.value = 'failed';
      const isRetried = error instanceof RequestError && isTransient(error.status) && followers > 0;
      if (isRetried) reloading = setTimeout(() => void reload(), RELOAD_MS);
    }
  };
  const subscriber: TopicSubscriber = {
    subscribed: () => void reload(),
    events: (changes: readonly ItemChange<Entities[K]>[]) => receive(changes),
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
