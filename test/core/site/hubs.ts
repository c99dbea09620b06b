import { ObjectPartitions, type Repartitioned } from '../../../src/cluster/config/object_partitions.ts';
import type { LastKnownRow, ObjectIds, PastStep } from '../../../src/core/item.ts';
import { look } from '../../../src/model/borrowed.ts';
import type { ObjectKind } from '../../../src/model/id.ts';
import type { ConfigCommand } from '../../../src/shards/shard_commands.ts';
import { RecentChanges } from '../../../src/shards/recent_changes.ts';
import { SharedObjects } from '../../../src/shards/shared_objects.ts';
import { type ObservedOutcome, itemOf, type ShardCommand, ShardHarness, T0 } from '../../support/shard_harness.ts';
import type { Timed } from './commands.ts';
import { takeOver } from './take_over.ts';

/** State that hubs take over from another one. */
export interface Left {
  readonly second: number;
  readonly rows: readonly LastKnownRow[];
  readonly steps: readonly PastStep[];
}

/**
 * Hubs that own objects at the same time, with one shard each. All know all entities. An object belongs to the owner of
 * its partition, and migrates together with connected objects when that changes.
 */
export class Hubs {
  readonly hubs: readonly ShardHarness[];
  /** Outcomes of all hubs, in order. */
  readonly outcomes: ObservedOutcome[] = [];
  /** Number of migrations of objects with a state. */
  moves = 0;
  readonly #partitions = new ObjectPartitions();
  readonly #objects = new SharedObjects({ sequence: () => 0, changes: new RecentChanges(() => 0) });
  #ownerOf: (partition: number) => number;
  #seq = 0;

  private constructor(hubs: readonly ShardHarness[], ownerOf: (partition: number) => number) {
    this.hubs = hubs;
    this.#ownerOf = ownerOf;
  }

  static async open(count: number, ownerOf = (partition: number) => partition % count): Promise<Hubs> {
    return new Hubs(await Promise.all(Array.from({ length: count }, () => ShardHarness.open())), ownerOf);
  }

  /** All hubs receive the configuration; other commands go to the owners. */
  tell({ second, command }: Timed): void {
    if (command.kind === 'location') {
      this.#objects.located(command.location.provider_id);
      this.#tellOne(this.#owner('provider', command.location.provider_id), second, command);
      return;
    }
    if (command.kind === 'forget') {
      this.#tellOne(this.#owner('provider', command.id), second, command);
      return;
    }
    const moved = this.#regrouped(command);
    this.#objects.change([command as ConfigCommand]);
    for (const hub of this.hubs.keys()) this.#tellOne(hub, second, command);
    for (const from of this.hubs.keys()) {
      for (const to of this.hubs.keys()) {
        const those = moved.filter((each) => this.#ownerOf(each.from) === from && this.#ownerOf(each.to) === to);
        const ids = (kind: string): string[] => those.flatMap((each) => (each.kind === kind ? [each.id] : []));
        this.#move(second, { from, to, objects: { providers: ids('provider'), trackables: ids('trackable') } });
      }
    }
  }

  /** Reassigns the partitions. */
  own(second: number, ownerOf: (partition: number) => number): void {
    const before = this.#ownerOf;
    this.#ownerOf = ownerOf;
    for (const from of this.hubs.keys()) {
      for (const to of this.hubs.keys()) {
        const isMoved = (partition: number): boolean => before(partition) === from && ownerOf(partition) === to;
        this.#move(second, { from, to, objects: this.#objectsIn(isMoved) });
      }
    }
  }

  /** Each hub adopts its own objects. */
  adopt({ second, rows, steps }: Left): void {
    for (const [hub] of this.hubs.entries()) {
      const objects = this.#objectsIn((partition) => this.#ownerOf(partition) === hub);
      const ids = { provider: objects.providers, trackable: objects.trackables };
      const own = rows.filter(({ kind, id }) => ids[kind].includes(id));
      this.#tellOne(hub, second, takeOver({ objects, rows: own, steps: structuredSteps(steps) }));
    }
  }

  step(second: number): void {
    for (const hub of this.hubs) this.outcomes.push(hub.step(second));
  }

  #move(second: number, { from, to, objects }: { from: number; to: number; objects: ObjectIds }): void {
    if (from === to || objects.providers.length + objects.trackables.length === 0) return;
    const { released } = this.#tellOne(from, second, { kind: 'release', id: 1, sequence: 1, config: 0, ...objects });
    const steps = released.map(({ effects }) => ({ locations: [], effects: Buffer.from(look(effects)) }));
    if (steps.some(({ effects }) => effects.length > 0)) this.moves++;
    this.#tellOne(to, second, takeOver({ objects, steps }));
  }

  #regrouped(command: ShardCommand): readonly Repartitioned[] {
    if (command.kind !== 'trackable') return [];
    const text = command.entity === undefined ? null : JSON.stringify(command.entity);
    return this.#partitions.apply([{ kind: 'trackable', id: command.id, text }]);
  }

  #objectsIn(isIn: (partition: number) => boolean): ObjectIds {
    const { providers, trackables } = this.#objects.all();
    return {
      providers: providers.filter((id) => isIn(this.#partitions.partitionOf('provider', id))),
      trackables: trackables.filter((id) => isIn(this.#partitions.partitionOf('trackable', id))),
    };
  }

  #owner(kind: ObjectKind, id: string): number {
    return this.#ownerOf(this.#partitions.partitionOf(kind, id));
  }

  #tellOne(hub: number, second: number, command: ShardCommand): ObservedOutcome {
    this.#seq++;
    const item = itemOf(command, this.#seq, T0 + second * 1000);
    const outcome = (this.hubs[hub] as ShardHarness).step(second, [item]);
    this.outcomes.push(outcome);
    return outcome;
  }
}

/** Steps as read by another hub, with their own copies of bytes. */
function structuredSteps(steps: readonly PastStep[]): PastStep[] {
  return steps.map((step) => ({ ...step, effects: Buffer.from(step.effects) }));
}
