import type { ObjectKind } from '../../model/id.ts';
import type { ProviderState, ShardState, TrackableState } from '../state.ts';
import { ObjectTree } from './object_tree.ts';

type Searched = ProviderState | TrackableState;

/** Trees that no search has used for this long are removed. */
const UNUSED_MS = 600_000;
/** Nodes of a tree beyond which it is built again: leaves that have become empty stay. */
const NODES_MIN = 1000;

interface Building {
  readonly tree: ObjectTree<Searched>;
  /** The objects that are not in the tree yet; undefined if all are. */
  rest: Iterator<Searched> | undefined;
  usedMs: number;
}

/**
 * Spatial index of the objects of a shard. The first search of a kind begins its tree, which each search continues by a
 * bounded number of objects until it is complete. Without a search there is no tree, and no cost.
 */
export class ObjectIndex {
  readonly #trees = new Map<ObjectKind, Building>();

  /** Removes the trees, after changes that `refresh` does not see. */
  reset(): void {
    this.#trees.clear();
  }

  /** Puts the objects that have changed in the current step into the trees. */
  refresh({ changed, providers, trackables, gone }: ShardState, nowMs: number): void {
    if (this.#trees.size === 0) return;
    for (const [kind, { tree, usedMs }] of this.#trees) {
      const objects: readonly Searched[] = kind === 'provider' ? changed.providers : changed.trackables;
      for (const object of objects) tree.put(object);
      const size = kind === 'provider' ? providers.size : trackables.size;
      // Deleted objects stay in a tree, which is built again before they are many.
      const isStale = tree.nodes > NODES_MIN + size || tree.size > NODES_MIN + 2 * size || gone.size > size;
      if (isStale || nowMs - usedMs > UNUSED_MS) this.#trees.delete(kind);
    }
  }

  /** Returns the up-to-date tree of a kind; undefined if it is not complete after `most` more objects. */
  tree(kind: ObjectKind, state: ShardState, { nowMs, most }: { readonly nowMs: number; readonly most: number }) {
    const objects: ReadonlyMap<string, Searched> = kind === 'provider' ? state.providers : state.trackables;
    let building = this.#trees.get(kind);
    if (building === undefined) {
      building = { tree: new ObjectTree(), rest: objects.values(), usedMs: nowMs };
      this.#trees.set(kind, building);
    }
    building.usedMs = nowMs;
    const { tree, rest } = building;
    for (let left = most; rest !== undefined && left > 0; left--) {
      const next = rest.next();
      if (next.done === true) {
        building.rest = undefined;
        break;
      }
      tree.put(next.value);
    }
    for (const object of kind === 'provider' ? state.changed.providers : state.changed.trackables) tree.put(object);
    return building.rest === undefined ? tree : undefined;
  }
}
