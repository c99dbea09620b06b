import { afterImbalance, afterJoin, afterLeave, firstMap, type PartitionMap } from './partition_map.ts';
import { firstMember, loads } from './member_views.ts';
import type { Members } from './members.ts';
import { successors, suspects } from './suspicion.ts';

/**
 * Records that the coordinator appends for the cluster. The coordinator is the first member that is no suspect, as each hub
 * sees it. If two hubs both act as coordinator, one append is overtaken, since each must be the next record; that hub then
 * evaluates the state again.
 *
 *   record           condition                                                           at a time
 *   ---------------  ------------------------------------------------------------------  -----------------------------------
 *   missing map      there is no map, or it names a hub that is not a member             all partitions without an owner
 *   protocol         all members support the next version                                one version
 *   filling map      a member has had less than its share since a join or a removal      1/32 of them to one member
 *   balancing map    loads have differed by more than a fifth for a minute, and are      1/32 of them
 *                    1,000 locations a second in all
 *
 * The last two wait until a heartbeat of each member has arrived and all earlier moves have completed. So few partitions wait for their new owner, and only one hub moves them at a time. Each map restarts the minute.
 */
export type CoordinatorRecord =
  | { readonly is: 'map'; readonly map: PartitionMap }
  | { readonly is: 'protocol'; readonly version: number };

/** Time since which loads have differed with the map of that epoch. */
export interface Imbalance {
  readonly epoch: number;
  readonly sinceMs: number;
}

const IMBALANCED_MS = 60_000;
/** Smaller total loads, in locations per second, are not worth a move. */
const LOAD_MIN = 1000;

/** Record that this hub must append next; undefined if no record is due, or if another hub must append it. */
export function coordinatorRecord(
  members: Members,
  nowMs: number,
  imbalance?: Imbalance,
): CoordinatorRecord | undefined {
  const { self, connection } = members;
  if (connection.at === 'down' || successors(members, suspects(members, nowMs))[0] !== self) return undefined;
  const missing = missingMap(members, nowMs);
  if (missing !== undefined) return { is: 'map', map: missing };
  const version = nextProtocol(members);
  if (version !== undefined) return { is: 'protocol', version };
  const map = isQuiet(members, nowMs) ? (fillingMap(members) ?? balancingMap(members, nowMs, imbalance)) : undefined;
  return map && { is: 'map', map };
}

/** Whether loads differ now, and since when; `before`: the previous result. Call it with each heartbeat. */
export function imbalancedSince(members: Members, nowMs: number, before: Imbalance | undefined): Imbalance | undefined {
  const { self, map } = members;
  const isWatching = firstMember(members)?.incarnation === self && members.ownersMax > 1;
  if (map === undefined || !isWatching || balanced(members) === undefined) return undefined;
  return before?.epoch === map.epoch ? before : { epoch: map.epoch, sinceMs: nowMs };
}

/** Map without this hub, which leaves; undefined if no other member can own its partitions. */
export function mapWithoutSelf(members: Members, nowMs: number): PartitionMap | undefined {
  const { self, map } = members;
  const others = successors(members, suspects(members, nowMs)).filter((incarnation) => incarnation !== self);
  if (map === undefined || others.length === 0) return undefined;
  return afterLeave(map, { gone: self, members: others, ownersMax: members.ownersMax });
}

function missingMap(members: Members, nowMs: number): PartitionMap | undefined {
  const { map, all } = members;
  const candidates = { members: successors(members, suspects(members, nowMs)), ownersMax: members.ownersMax };
  if (map === undefined) return firstMap({ ...candidates, partitions: members.partitions });
  const gone = [...new Set([...map.owners, map.collisions])].filter((owner) => !all.has(owner));
  if (gone.length === 0) return undefined;
  const next = gone.reduce((before, each) => afterLeave(before, { gone: each, ...candidates }), map);
  return { ...next, epoch: map.epoch + 1 };
}

/** Next protocol version, if all members support it. */
function nextProtocol({ all, protocol }: Members): number | undefined {
  const next = protocol + 1;
  return [...all.values()].every(({ protocols }) => protocols.includes(next)) ? next : undefined;
}

/** Whether partitions may be moved between live members. */
function isQuiet(members: Members, nowMs: number): boolean {
  const { all, isSettled } = members;
  return isSettled && members.ownersMax > 1 && successors(members, suspects(members, nowMs)).length === all.size;
}

/** The member with fewest partitions is first, so that members that fill at the same time do so evenly. */
function fillingMap(members: Members): PartitionMap | undefined {
  const { all, map } = members;
  if (map === undefined) return undefined;
  const counts = Map.groupBy(map.owners, (owner) => owner);
  const countOf = (incarnation: string): number => counts.get(incarnation)?.length ?? 0;
  const filling = [...all.values()].filter(({ isFilling }) => isFilling).map(({ incarnation }) => incarnation);
  for (const joined of filling.toSorted((one, other) => countOf(one) - countOf(other))) {
    const next = afterJoin(map, { joined, members: all.keys(), ownersMax: members.ownersMax });
    if (next !== undefined) return next;
  }
  return undefined;
}

function balancingMap(members: Members, nowMs: number, imbalance: Imbalance | undefined): PartitionMap | undefined {
  const { map } = members;
  if (imbalance === undefined || imbalance.epoch !== map?.epoch || nowMs < imbalance.sinceMs + IMBALANCED_MS)
    return undefined;
  return balanced(members);
}

function balanced(members: Members): PartitionMap | undefined {
  const { map, all } = members;
  const measured = loads(members);
  if (map === undefined || measured.reduce((sum, load) => sum + load, 0) < LOAD_MIN) return undefined;
  return afterImbalance(map, { loads: measured, members: all.keys(), ownersMax: members.ownersMax });
}
