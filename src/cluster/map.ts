import { PARTITIONS } from '../shards/affinity.ts';

/**
 * Which member owns which partition. A map is replaced as a whole, by one with the next epoch. What makes the next one
 * is pure, and depends on neither the order nor the number of times in which members are named: where several members
 * have equally much, the one with the smallest incarnation comes first. So whoever makes it makes the same.
 *
 *   what has happened       takes from                       gives to            at a time
 *   ----------------------  -------------------------------  ------------------  ---------
 *   a member has joined     who has most partitions          the one who joined  8
 *   a member is gone        the one who is gone              who has fewest      all it had
 *   loads differ by more    who has most load, what brings   who has least load  8
 *   than a fifth            both nearest to each other
 *
 * Nothing else moves. Numbers of partitions count when a member comes or goes, and only then: what was moved over its
 * load is not moved back over numbers.
 *
 * At most `ownersMax` members own anything. With 1, one member owns everything, and when it is gone another one does.
 */
export interface PartitionMap {
  /** Each map has a higher one than the map before. */
  readonly epoch: number;
  /** The incarnation of the owner of each of the PARTITIONS. */
  readonly owners: readonly string[];
  /** The incarnation of the owner of the collision stage. It stays where it is until that member is gone. */
  readonly collisions: string;
}

/** So many partitions move at a time: all wait while they do. */
export const MOVES_MAX = 8;

/** Who may own partitions. */
export interface Candidates {
  /** Incarnations. Members that are suspected are left out: they neither get nor give anything. */
  readonly members: Iterable<string>;
  /** So many members own partitions at most; all of them without it. */
  readonly ownersMax?: number;
}

/** The map of a cluster that had none: everybody owns equally many partitions, give or take one. */
export function firstMap({ members, ownersMax }: Candidates): PartitionMap {
  const owners = inOrder(members).slice(0, checkedOwnersMax(ownersMax));
  const [first] = owners;
  if (first === undefined) throw new RangeError(NOBODY);
  return {
    epoch: 1,
    owners: Array.from({ length: PARTITIONS }, (_, partition) => owners[partition % owners.length] ?? first),
    collisions: first,
  };
}

/**
 * The map with the next batch of partitions for a member that has joined; undefined when it has its share. To be asked
 * again when the batch has arrived.
 */
export function afterJoin(
  map: PartitionMap,
  { joined, ...candidates }: Candidates & { readonly joined: string },
): PartitionMap | undefined {
  const holdings = holdingsOf(map, candidates.members);
  if (!holdings.has(joined)) {
    throw new RangeError(`Cannot move partitions to a member: joined must be one of the members, found "${joined}"`);
  }
  const to = heirsOf(holdings, candidates.ownersMax).find(({ member }) => member === joined);
  if (to === undefined) return undefined;
  const owners = [...map.owners];
  for (let moved = 0; moved < MOVES_MAX; moved++) {
    const from = highest([...holdings.values()], countOf);
    if (from === undefined || countOf(from) - countOf(to) <= 1) break;
    give(owners, { from, to, partition: from.partitions.at(-1) });
  }
  return replaced(map, owners);
}

/** The map when a member is gone: those who have fewest partitions have got what it had. */
export function afterLeave(
  map: PartitionMap,
  { gone, ...candidates }: Candidates & { readonly gone: string },
): PartitionMap {
  const holdings = holdingsOf(map, candidates.members);
  if (holdings.has(gone)) {
    throw new RangeError(`Cannot replace a member that is gone: members must be those that remain, found "${gone}"`);
  }
  const heirs = heirsOf(holdings, candidates.ownersMax);
  const owners = map.owners.map((owner, partition) => {
    if (owner !== gone) return owner;
    const heir = lowest(heirs, countOf);
    if (heir === undefined) throw new RangeError(NOBODY);
    heir.partitions.push(partition);
    return heir.member;
  });
  const collisions = map.collisions === gone ? lowest(heirs, countOf)?.member : map.collisions;
  if (collisions === undefined) throw new RangeError(NOBODY);
  return { epoch: map.epoch + 1, owners, collisions };
}

/**
 * The map with a batch of partitions moved from members that have much to do to such that have little; undefined while
 * members differ by a fifth at most, or nothing that could be moved would help. `loads`: of each partition, in whatever
 * unit. To be asked again with what was measured after the batch has arrived.
 */
export function afterImbalance(
  map: PartitionMap,
  { loads, ...candidates }: Candidates & { readonly loads: readonly number[] },
): PartitionMap | undefined {
  checkLoads(loads);
  const loadOf = ({ partitions }: Holding): number => {
    return partitions.reduce((sum, partition) => sum + (loads[partition] ?? 0), 0);
  };
  const heirs = heirsOf(holdingsOf(map, candidates.members), candidates.ownersMax);
  const owners = [...map.owners];
  for (let moved = 0; moved < MOVES_MAX; moved++) {
    const from = highest(heirs, loadOf);
    const to = lowest(heirs, loadOf);
    if (from === undefined || to === undefined || loadOf(from) * 5 <= loadOf(to) * 6) break;
    const gap = loadOf(from) - loadOf(to);
    // What is as large as the gap, or larger, would only change who of both has more.
    const helping = from.partitions.filter((partition) => isBetween(loads[partition] ?? 0, 0, gap));
    const partition = lowest(helping, (each) => Math.abs(gap - 2 * (loads[each] ?? 0)));
    if (partition === undefined) break;
    give(owners, { from, to, partition });
  }
  return replaced(map, owners);
}

/** A member with the partitions that it owns, in ascending order but for those that it has just got. */
interface Holding {
  readonly member: string;
  readonly partitions: number[];
}

const NOBODY = 'Cannot make a partition map: members must name at least one, found none';

/** What each member owns, in the order of incarnations. What others own is in no holding. */
function holdingsOf(map: PartitionMap, members: Iterable<string>): ReadonlyMap<string, Holding> {
  const holdings = new Map(inOrder(members).map((member) => [member, { member, partitions: [] as number[] }]));
  for (const [partition, owner] of map.owners.entries()) holdings.get(owner)?.partitions.push(partition);
  return holdings;
}

/** Who may get partitions: owners, and others until there are `ownersMax` of them. */
function heirsOf(holdings: ReadonlyMap<string, Holding>, ownersMax: number | undefined): readonly Holding[] {
  const all = [...holdings.values()];
  const owners = all.filter((holding) => countOf(holding) > 0);
  const room = Math.max(0, checkedOwnersMax(ownersMax) - owners.length);
  const others = all.filter((holding) => countOf(holding) === 0).slice(0, room);
  const heirs = new Set([...owners, ...others]);
  return all.filter((holding) => heirs.has(holding));
}

function give(
  owners: string[],
  { from, to, partition }: { readonly from: Holding; readonly to: Holding; readonly partition: number | undefined },
): void {
  if (partition === undefined) return;
  from.partitions.splice(from.partitions.indexOf(partition), 1);
  to.partitions.push(partition);
  owners[partition] = to.member;
}

function replaced(map: PartitionMap, owners: readonly string[]): PartitionMap | undefined {
  const isSame = owners.every((owner, partition) => owner === map.owners[partition]);
  return isSame ? undefined : { epoch: map.epoch + 1, owners, collisions: map.collisions };
}

function inOrder(members: Iterable<string>): readonly string[] {
  return [...new Set(members)].toSorted();
}

function countOf({ partitions }: Holding): number {
  return partitions.length;
}

/** The first of those that have least. */
function lowest<Item>(items: readonly Item[], of: (item: Item) => number): Item | undefined {
  let found: { readonly item: Item; readonly value: number } | undefined;
  for (const item of items) {
    const value = of(item);
    if (found === undefined || value < found.value) found = { item, value };
  }
  return found?.item;
}

/** The first of those that have most. */
function highest<Item>(items: readonly Item[], of: (item: Item) => number): Item | undefined {
  return lowest(items, (item) => -of(item));
}

function isBetween(value: number, above: number, below: number): boolean {
  return value > above && value < below;
}

function checkedOwnersMax(ownersMax = PARTITIONS): number {
  if (Number.isInteger(ownersMax) && ownersMax >= 1) return ownersMax;
  throw new RangeError(`Cannot make a partition map: ownersMax must be an integer from 1 on, found ${ownersMax}`);
}

function checkLoads(loads: readonly number[]): void {
  if (loads.length !== PARTITIONS) {
    throw new RangeError(
      `Cannot balance loads: loads must have one number for each of ${PARTITIONS} partitions, found ${loads.length}`,
    );
  }
  for (const [partition, load] of loads.entries()) {
    if (Number.isFinite(load) && load >= 0) continue;
    throw new RangeError(
      `Cannot balance loads: loads[${partition}] must be a finite number that is not negative, found ${load}`,
    );
  }
}
