import { randomUUID } from 'node:crypto';
import type { ObjectIds } from '../../core/item.ts';
import type { ObjectKind } from '../../model/id.ts';
import type { ClusterContext } from '../context.ts';
import { Ownership } from '../routing/ownership.ts';
import { BootstrapEntities } from './bootstrap.ts';
import { changesIn, type ConfigChange } from './config_changes.ts';
import { type AppliedRecord, type ConfigLog, type ConfigLogOptions, openConfigLog } from './config_log.ts';
import type { EntityChange } from './config_record.ts';
import { applied, type ConfigState, EMPTY_STATE, isSettled, serving } from './config_state.ts';
import { ObjectPartitions, type ObjectsWanted, type Repartitioned } from './object_partitions.ts';
import { checkProtocol, PROTOCOLS } from './protocols.ts';
import { restored } from './snapshot_messages.ts';

const HUB_ID_SETTING = 'hub_id';

/**
 * The configuration of the cluster as this hub has applied it: members, partition map and settings, and what follows from them
 * for objects, which is their partition and the hub that serves it.
 */
export class ClusterConfig {
  readonly partitions = new ObjectPartitions();
  readonly ownership: Ownership;
  /** Entities until the hub takes them. */
  readonly opening = new BootstrapEntities();
  /** Sequence of the last record whose changes were reported to the other parts of this hub. */
  configured = 0;
  readonly #context: Pick<ClusterContext, 'hubName' | 'incarnation' | 'elapsed' | 'notice'>;
  #state: ConfigState = EMPTY_STATE;
  #log: ConfigLog | undefined;

  constructor(context: Pick<ClusterContext, 'hubName' | 'incarnation' | 'elapsed' | 'notice'>) {
    this.#context = context;
    this.ownership = new Ownership(this.partitionOf);
  }

  /** Reads the configuration, and applies further records from then on. */
  async open(options: Omit<ConfigLogOptions, 'newId'>): Promise<void> {
    this.#log = await openConfigLog({ ...options, newId: randomUUID });
    checkProtocol('Cannot follow the configuration', this.#state.protocol, PROTOCOLS);
  }

  /** Logs it if the cluster has another number of partitions than the settings of this hub say. */
  comparePartitions(partitions: number): void {
    const count = this.#state.map?.owners.length ?? partitions;
    if (count === partitions) return;
    this.#context.notice(
      `cluster_partitions: this cluster has had ${count} since it was created, so ${partitions} has no effect`,
      'info',
    );
  }

  /** Starts from a snapshot. */
  restore(parts: readonly Uint8Array[]): void {
    const { state, entities } = restored(parts);
    this.#state = state;
    this.partitions.follow(state.map);
    this.opening.restore(entities);
    this.partitions.apply(entities);
    this.ownership.set(serving(state));
  }

  /** Applies a record. Returns the state before it, and its changes. */
  apply(record: AppliedRecord): {
    readonly before: ConfigState;
    readonly changes: readonly ConfigChange[];
    readonly repartitioned: readonly Repartitioned[];
  } {
    const { sequence, body } = record;
    const before = this.#state;
    this.#state = applied(before, record);
    this.partitions.follow(this.#state.map);
    const changes = changesIn(body);
    this.partitions.noteDeleted(changes, { sequence, nowMs: this.#context.elapsed() });
    const repartitioned = this.partitions.apply(changes);
    this.ownership.set(serving(this.#state));
    return { before, changes, repartitioned };
  }

  /** State after the last applied record. */
  readonly state = (): ConfigState => this.#state;

  /** Sequence of the last applied record. */
  readonly applied = (): number => this.log().applied;

  /** Resolves when that record is applied; rejects if that takes too long. */
  readonly reached = (sequence: number, timeoutMs: number): Promise<void> => this.log().reached(sequence, timeoutMs);

  readonly partitionOf = (kind: ObjectKind, id: string): number => this.partitions.partitionOf(kind, id);

  /** Whether an object is in a partition of this hub. */
  readonly isOwn = (kind: ObjectKind, id: string): boolean =>
    this.#state.map?.owners[this.partitionOf(kind, id)] === this.#context.incarnation;

  /** All objects of some partitions, those migrating away from there, and those deleted there. */
  objectsIn(wanted: Omit<ObjectsWanted, 'migrating'>): ObjectIds {
    return this.partitions.objectsIn({ ...wanted, migrating: this.#state.migrating });
  }

  /** The log, once it is open. */
  readonly log = (): ConfigLog => this.#log as ConfigLog;

  /** Whether every partition is served and nothing is migrating. */
  get isWhole(): boolean {
    return this.ownership.isWhole && isSettled(this.#state);
  }

  /** Whether this hub serves the partition of a name. */
  serves(name: string): boolean {
    const partition = this.partitions.partitionOfKey(name);
    return (
      this.#state.map?.owners[partition] === this.#context.incarnation && !serving(this.#state).open.has(partition)
    );
  }

  /** UUID of the cluster, assigned when it was created. */
  get id(): string {
    return JSON.parse(this.settings.get(HUB_ID_SETTING) ?? '""') as string;
  }

  /** Assigns the UUID if the cluster has none. If two hubs find none, the first one assigns it. */
  async createId(): Promise<void> {
    if (this.settings.has(HUB_ID_SETTING)) return;
    const changes: EntityChange[] = [['setting', HUB_ID_SETTING, JSON.stringify(randomUUID()), false]];
    await this.log().append({ kind: 'change', by: this.#context.hubName, changes }, this.applied());
  }

  /** Settings as JSON by name. */
  get settings(): ReadonlyMap<string, string> {
    return this.#state.settings;
  }

  /** Commits settings; null deletes one. Resolves when they are in the log. */
  async keepSettings(settings: readonly (readonly [name: string, text: string | null])[]): Promise<void> {
    const changes = settings.map(([name, text]): EntityChange => ['setting', name, text, false]);
    await this.log().append({ kind: 'change', by: this.#context.hubName, changes });
  }

  close(): void {
    this.#log?.close();
  }
}
