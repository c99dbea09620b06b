import { randomUUID } from 'node:crypto';
import { openConfigLog } from '../../src/cluster/config/config_log.ts';
import { restored } from '../../src/cluster/config/snapshot_messages.ts';
import { applied, EMPTY_STATE, isSettled } from '../../src/cluster/config/config_state.ts';
import { openNatsBus } from '../../src/cluster/nats/nats_bus.ts';
import { schedule } from '../../src/time/clock.ts';

/** State of a cluster according to the configuration log. */
export interface ClusterView {
  /** Names of the members, in the order of their joins. */
  readonly members: readonly string[];
  /** Name of the owner of each partition; undefined for those of former members. */
  readonly owners: readonly (string | undefined)[];
  /** Whether nothing is migrating. */
  readonly isSettled: boolean;
}

export interface FollowedCluster {
  /** Current state. */
  readonly view: ClusterView;
  close(): Promise<void>;
}

/** Follows the configuration log of the cluster `hub`, without being a member, and calls back on every change. */
export async function followCluster(
  { servers, replicas }: { readonly servers: readonly string[]; readonly replicas: number },
  changed: (view: ClusterView) => void,
): Promise<FollowedCluster> {
  const bus = openNatsBus({ servers, name: 'hub', memberName: 'onlooker' });
  let state = EMPTY_STATE;
  const view = (): ClusterView => {
    const { members, map } = state;
    return {
      members: [...members.values()].map(({ name }) => name),
      owners: (map?.owners ?? []).map((incarnation) => members.get(incarnation)?.name),
      isSettled: isSettled(state),
    };
  };
  try {
    const log = await openConfigLog({
      ...{ bus, name: 'hub', replicas, storage: 'file', schedule, newId: randomUUID },
      elapsed: () => performance.now(),
      restore: (parts) => {
        ({ state } = restored(parts));
      },
      apply(record) {
        state = applied(state, record);
        changed(view());
      },
      snapshot: () => [],
      shouldSnapshot: () => false,
      stopped: () => undefined,
      notice: () => undefined,
    });
    return {
      get view() {
        return view();
      },
      async close() {
        log.close();
        await bus.close();
      },
    };
  } catch (error) {
    await bus.close();
    throw error;
  }
}
