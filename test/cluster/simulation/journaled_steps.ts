import type { Item, ObjectIds } from '../../../src/core/item.ts';
import type { StepBatch } from '../../../src/core/shard.ts';
import { lend } from '../../../src/model/borrowed.ts';
import { type LaneBatch, unpackBatch } from '../../../src/wire/messages.ts';
import type { Ran } from './thread.ts';

/** A step of a hub, and its time. */
export interface TimedRan extends Ran {
  readonly atMs: number;
  /** Number of earlier steps of all hubs. */
  readonly order: number;
}

/** A step that took effect: the next owners of its objects include it. */
export interface KeptStep extends Omit<StepBatch, 'items'>, Pick<LaneBatch, 'recordedWith'> {
  readonly incarnation: string;
  readonly atMs: number;
  readonly order: number;
  readonly items: readonly Item[];
}

export type EntityItem = Extract<Item, { entity: unknown }>;

const ENTITY_KINDS: readonly string[] = ['zone', 'fence', 'provider', 'trackable'];

/** Objects come to a shard from another hub, by one of the items of a step. */
export interface Arrival {
  /** The index of the item. */
  readonly at: number;
  /** By their ids. */
  readonly which: ReadonlySet<string>;
  /** Their deadlines are suppressed until this time. */
  readonly heldUntilMs: number;
}

/** Objects leave a shard for another hub. */
export type Departure = Pick<Arrival, 'at' | 'which'>;

/**
 * Steps of a shard up to the last one whose record was stored, and whether an earlier record was not although the shard had the
 * state. Later work of the shard is unknown to other hubs and is not published, except entities that it reports
 * as `evaluated` without changes.
 *
 * Locations, identified by their speeds, are `processed` by a step whose record is stored. Those of a step without a record are
 * `idle`, as outdated ones are: they have changed nothing, so the next owner may get them again.
 */
export function keptSteps(
  incarnation: string,
  rans: readonly TimedRan[],
  { committed, evaluated }: { readonly committed: ReadonlySet<string>; readonly evaluated: number },
) {
  const isCommitted = ({ record }: Ran): boolean => record !== undefined && committed.has(record);
  const last = rans.findLastIndex(isCommitted);
  const unpacked = ({ batch, atMs, order }: TimedRan): KeptStep => ({
    ...unpackBatch(lend(batch)),
    incarnation,
    atMs,
    order,
  });
  const steps = rans.slice(0, last + 1).map(unpacked);
  const end = rans.findIndex(({ record }, i) => i > last && record !== undefined);
  // Objects without a location are released without a record.
  const behind = rans.slice(last + 1, end < 0 ? undefined : end).map(unpacked);
  const isPublished = (item: Item): boolean => {
    const { config = Number.POSITIVE_INFINITY } = item as { readonly config?: number };
    return item.kind === 'release' || (isEntity(item) && config <= evaluated);
  };
  const released = behind.map((step) => ({ ...step, items: step.items.filter(isPublished) }));
  const begun = steps.findIndex((step) => arrivalsIn(step).length > 0);
  const hasGap = rans.slice(begun + 1, Math.max(last, 0)).some((ran) => ran.record !== undefined && !isCommitted(ran));
  const processed = speedsIn(rans.filter(isCommitted).map(unpacked));
  const idle = speedsIn(rans.filter(({ record }) => record === undefined).map(unpacked));
  return { steps, hasGap, released: released.filter(({ items }) => items.length > 0), processed, idle };
}

/** Objects that arrive at the shard with a step from another hub. */
export function arrivalsIn({ items }: Pick<KeptStep, 'items'>): readonly Arrival[] {
  return items.flatMap((item, at): Arrival[] => {
    return item.kind === 'takeOver' ? [{ at, which: idsOf(item.objects), heldUntilMs: item.heldUntilMs }] : [];
  });
}

/** Objects that leave the shard with a step for another hub. */
export function departuresIn({ items }: Pick<KeptStep, 'items'>): readonly Departure[] {
  return items.flatMap((item, at): Departure[] => (item.kind === 'release' ? [{ at, which: idsOf(item) }] : []));
}

/** Whether the step only restores a replaced worker. */
export function isRepeated(step: Pick<KeptStep, 'items'>): boolean {
  return arrivalsIn(step).length === 0 && step.items.some(({ kind }) => kind === 'replay');
}

function idsOf({ providers, trackables }: ObjectIds): ReadonlySet<string> {
  return new Set([...providers, ...trackables]);
}

/** Identifies the locations of steps. */
function speedsIn(steps: readonly Pick<KeptStep, 'items'>[]): number[] {
  return steps.flatMap(({ items }) => items.flatMap((item) => (item.kind === 'location' ? [item.sentSpeed] : [])));
}

export function isEntity(item: Item): item is EntityItem {
  return ENTITY_KINDS.includes(item.kind);
}

export function keyOf({ kind, id }: Pick<EntityItem, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}
