import { isPartitionCount, PARTITIONS, PARTITIONS_MAX } from '../../shards/affinity.ts';

/**
 * Partition map: the owner of each partition. A map is always replaced as a whole, by one with the next epoch. The functions
 * that make the next map are pure, and neither the order in which members are listed nor repetitions matter: ties go to the
 * member with the smallest id. So every hub makes the same map.
 *
 *   event                   moves partitions from            to                  at a time
 *   ----------------------  -------------------------------  ------------------  ---------
 *   a member has joined     the member with most of them     the new member      1/32
 *   a member was removed    that member                      its hub's next      all
 *                                                            process, up to its
 *                                                            share; then the
 *                                                            member with fewest
 *   loads differ by more    the member with most load,       the member with     1/32
 *   than a fifth            choosing the best balance        least load
 *
 * Nothing else moves. The number of partitions matters only when a member joins or leaves: partitions moved because of their
 * load are not moved back to even out the numbers.
 *
 * The first map fixes the number of partitions. All later ones have as many.
 *
 * At most `ownersMax` members own anything. With 1, one member owns everything, and another takes over when it is removed.
 */
export interface PartitionMap {
  /** Rises by one with each map, beginning with 1. */
  readonly epoch: number;
  /** Member id of the owner of each partition. */
  readonly owners: readonly string[];
  /** Member id of the owner of the collision stage, which moves only when that member is removed. */
  readonly collisions: string;
}

/** Share of the partitions that move at a time. All of them wait while they do. */
export const MOVED_SHARE = 1 / 32;

/** Members that may own partitions. */
export interface Candidates {
  /** Their ids. Leave out suspects: they neither get nor give up anything. */
  readonly members: Iterable<string>;
  /** Most members that may own partitions, at least 1; all of them if left out. */
  readonly ownersMax?: number;
}

/** Whether a map replaces another one. It does not if it was made from an outdated one, or has other partitions. */
export function replaces(map: PartitionMap | undefined, before: PartitionMap | undefined): map is PartitionMap {
  if (map === undefined || before === undefined) return map !== undefined;
  return map.epoch > before.epoch && map.owners.length === before.owners.length;
}

/**
 * First map of a cluster: all members own the same number of partitions, give or take one. Throws a RangeError if there are no
 * members, or for a number of partitions that is not allowed.
 */
export function firstMap({
  members,
  ownersMax,
  partitions = PARTITIONS,
}: Candidates & { readonly partitions?: number }): PartitionMap {
  if (!isPartitionCount(partitions)) {
    throw new RangeError(`Cannot make a partition map: partitions must be 256, 512, … or 4096, found ${partitions}`);
  }
  const owners = inOrder(members).slice(0, checkedOwnersMax(ownersMax));
  const [first] = owners;
  if (first === undefined) throw new RangeError(NOBODY);
  return {
    epoch: 1,
    owners: Array.from({ length: partitions }, (_, partition) => owners[partition % owners.length] ?? first),
    collisions: first,
  };
}

/**
 * Map with the next batch of partitions for a member that has joined; undefined once it has its share. Call it again when the
 * batch has arrived. Throws a RangeError if `joined` is not one of the members.
 */
export function afterJoin(
  map: PartitionMap,
  { joined, ...candidates }: Candidates & { readonly joined: string },
): PartitionMap | undefined {
  const holdings = holdingsOf(map, candidates.members);
  if (!holdings.has(joined)) {
    throw new RangeError(`Cannot move partitions to a member: joined must be one of the members, found "${joined}"`);
  }
  const to = successorsOf(holdings, candidates.ownersMax).find(({ member }) => member === joined);
  if (to === undefined) return undefined;
  const owners = [...map.owners];
  for (let moved = 0; moved < owners.length * MOVED_SHARE; moved++) {
    const from = highest([...holdings.values()], countOf);
    if (from === undefined || countOf(from) - countOf(to) <= 1) break;
    give(owners, { from, to, partition: from.partitions.at(-1) });
  }
  return replaced(map, owners);
}

/**
 * Map after a member is removed: its partitions go to `preferred`, until that has its share, and each other one to the member
 * with fewest. So after a restart of all hubs, each hub reads one journal. Throws a RangeError if `gone` is still one of the
 * members, or no member remains.
 */
export function afterLeave(
  map: PartitionMap,
  { gone, preferred, ...candidates }: Candidates & { readonly gone: string; readonly preferred?: string | undefined },
): PartitionMap {
  const holdings = holdingsOf(map, candidates.members);
  if (holdings.has(gone)) {
    throw new RangeError(`Cannot replace a member that is gone: members must be those that remain, found "${gone}"`);
  }
  const successors = successorsOf(holdings, candidates.ownersMax);
  const first = successors.find(({ member }) => member === preferred);
  const share = Math.ceil(map.owners.length / successors.length);
  const owners = map.owners.map((owner, partition) => {
    if (owner !== gone) return owner;
    const successor = first !== undefined && countOf(first) < share ? first : lowest(successors, countOf);
    if (successor === undefined) throw new RangeError(NOBODY);
    successor.partitions.push(partition);
    return successor.member;
  });
  const collisions = map.collisions === gone ? lowest(successors, countOf)?.member : map.collisions;
  if (collisions === undefined) throw new RangeError(NOBODY);
  return { epoch: map.epoch + 1, owners, collisions };
}

/**
 * Map with a batch of partitions moved from busy members to idle ones; undefined while their loads differ by a fifth at most,
 * or if no move would help. `loads`: the load of each partition, in any unit. Call it again with new measurements once the
 * batch has arrived. Throws a RangeError for loads that are negative, not finite, or of the wrong number.
 */
export function afterImbalance(
  map: PartitionMap,
  { loads, ...candidates }: Candidates & { readonly loads: readonly number[] },
): PartitionMap | undefined {
  checkLoads(loads, map.owners.length);
  const loadOf = ({ partitions }: Holding): number => {
    return partitions.reduce((sum, partition) => sum + (loads[partition] ?? 0), 0);
  };
  const successors = successorsOf(holdingsOf(map, candidates.members), candidates.ownersMax);
  const owners = [...map.owners];
  for (let moved = 0; moved < owners.length * MOVED_SHARE; moved++) {
    const from = highest(successors, loadOf);
    const to = lowest(successors, loadOf);
    if (from === undefined || to === undefined || loadOf(from) * 5 <= loadOf(to) * 6) break;
    const gap = loadOf(from) - loadOf(to);
    // Moving a load as large as the gap would only swap which of the two has more.
    const helping = from.partitions.filter((partition) => isBetween(loads[partition] ?? 0, 0, gap));
    const partition = lowest(helping, (each) => Math.abs(gap - 2 * (loads[each] ?? 0)));
    if (partition === undefined) break;
    give(owners, { from, to, partition });
  }
  return replaced(map, owners);
}

/** Number of partitions that a member owns. */
export function partitionsOf(map: PartitionMap | undefined, member: string): number {
  return map?.owners.filter((owner) => owner === member).length ?? 0;
}

/** A member and its partitions, in ascending order except for those just added. */
interface Holding {
  readonly member: string;
  readonly partitions: number[];
}

const NOBODY = 'Cannot make a partition map: members must name at least one, found none';

/** Holdings of the members, ordered by member id. Partitions of other hubs are in none of them. */
function holdingsOf(map: PartitionMap, members: Iterable<string>): ReadonlyMap<string, Holding> {
  const holdings = new Map(inOrder(members).map((member) => [member, { member, partitions: [] as number[] }]));
  for (const [partition, owner] of map.owners.entries()) holdings.get(owner)?.partitions.push(partition);
  return holdings;
}

/** Members that may be given partitions: the present owners, and others until there are `ownersMax`. */
function successorsOf(holdings: ReadonlyMap<string, Holding>, ownersMax: number | undefined): readonly Holding[] {
  const all = [...holdings.values()];
  const owners = all.filter((holding) => countOf(holding) > 0);
  const room = Math.max(0, checkedOwnersMax(ownersMax) - owners.length);
  const others = all.filter((holding) => countOf(holding) === 0).slice(0, room);
  const successors = new Set([...owners, ...others]);
  return all.filter((holding) => successors.has(holding));
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

/** Item with the least value; the first of several. */
function lowest<Item>(items: readonly Item[], of: (item: Item) => number): Item | undefined {
  let found: { readonly item: Item; readonly value: number } | undefined;
  for (const item of items) {
    const value = of(item);
    if (found === undefined || value < found.value) found = { item, value };
  }
  return found?.item;
}

/** Item with the greatest value; the first of several. */
function highest<Item>(items: readonly Item[], of: (item: Item) => number): Item | undefined {
  return lowest(items, (item) => -of(item));
}

function isBetween(value: number, above: number, below: number): boolean {
  return value > above && value < below;
}

function checkedOwnersMax(ownersMax = PARTITIONS_MAX): number {
  if (Number.isInteger(ownersMax) && ownersMax >= 1) return ownersMax;
  throw new RangeError(`Cannot make a partition map: ownersMax must be an integer of at least 1, found ${ownersMax}`);
}

function checkLoads(loads: readonly number[], count: number): void {
  if (loads.length !== count) {
    throw new RangeError(
      `Cannot balance loads: loads must have one number for each of ${count} partitions, found ${loads.length}`,
    );
  }
  for (const [partition, load] of loads.entries()) {
    if (Number.isFinite(load) && load >= 0) continue;
    throw new RangeError(
      `Cannot balance loads: loads[${partition}] must be a finite number that is not negative, found ${load}`,
    );
  }
}
