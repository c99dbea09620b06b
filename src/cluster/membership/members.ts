import { PARTITIONS, PARTITIONS_MAX } from '../../shards/affinity.ts';
import type { Heartbeat } from '../messages/messages.ts';
import { afterLeave, type PartitionMap, replaces } from './partition_map.ts';

/**
 * State machine of membership: the members of the cluster, the suspects, and the actions of this hub. The configuration log
 * defines the members, so all hubs agree on them. Suspicion is local: each hub judges by the messages that it receives.
 *
 * States of another member at this hub:
 *
 *   state     signal                                next state
 *   --------  ------------------------------------  ------------------------------------------------------------------
 *   none      join                                  member: its silence begins
 *   member    beat                                  member: its silence begins again; it is reachable
 *   member    noResponders                          member: unreachable, unless a message came since
 *   member    look, is a suspect, may be accused    sealing: being sealed                                     -> seal
 *   sealing   sealed                                sealed: to be expelled
 *   sealing   failed                                sealing: to be sealed again a little later                -> seal
 *   sealed    look, no other expulsion in progress  sealed: being expelled                                    -> expel
 *   sealed    overtaken                             sealed: to be expelled, by the latest state               -> expel
 *   sealed    failed                                sealed: to be expelled again a little later               -> expel
 *   any       leave, expel                          none
 *
 * First seal, then expel: only a member whose journal is sealed becomes `sealed`, and only then can it be expelled. From the
 * first seal on there is no way back, whatever the member sends: a stream of its journal may be sealed already, and then it is
 * out. Members are expelled one at a time, since each expulsion must be the next record, and changes the map.
 *
 * A member is a *suspect* once it has been silent for `suspectMs`, or for a second if requests to it find no responders.
 * Silence counts only while this hub is connected, and a member. This hub *may accuse* a suspect only while all of these hold;
 * the first that does not is the reason why not:
 *
 *   notMember    it is a member itself
 *   down         it has a connection
 *   reconnected  it has had it for 3 s
 *   minority     more than half of the members are no suspects, itself included; or half of them, with the one that joined
 *                last; or there are two members; or some have been suspects for longer, and only those are accused. Members
 *                whose journals are sealed do not count: they can accuse no one
 *   notKept      one of its own appends was stored within the last second; an idle hub makes an empty one
 *
 * The majority rule stops a hub that can append, but receives nothing, from expelling all others while these do receive each
 * other's messages: they must be faster, and seal it. Of two halves the one with the member that joined last is faster: after a
 * restart of the whole cluster that is the live half. The rule must not last forever: a hub that returns alone after three have
 * failed would wait for the failed ones. A minority waits for 3 s more if a suspect's connection is lost, and for 10 s more if
 * it is only silent. A majority would have acted within that time, and this hub's append would have been rejected.
 *
 * A member is *filling* from its join on, and again when another member has been removed, until it owns its share by number.
 * Partitions that it loses later because of loads are not given back. coordinator.ts describes how the first member fills.
 *
 * All times are of one monotonic clock of this hub that runs while the process is stopped. Wall-clock times are only compared
 * with each other. Safety rests on seals alone: late or lost signals only cost time.
 */
export interface Members {
  /** Member id of this hub. */
  readonly self: string;
  readonly suspectMs: number;
  /** How many members may own partitions. */
  readonly ownersMax: number;
  /** Number of partitions of a first map that this hub makes. */
  readonly partitions: number;
  /** Protocol version that all members write. */
  readonly protocol: number;
  /** Whether everything that the log has moved has arrived. */
  readonly isSettled: boolean;
  /** Last configuration record that this hub has applied. */
  readonly applied: number;
  readonly map: PartitionMap | undefined;
  readonly connection: BusState;
  readonly keptAtMs: number;
  /** Locations per second in each partition of this hub. */
  readonly ownLoads: ReadonlyMap<number, number>;
  /** By member id, this hub included once it has joined; in the order of their indexes. */
  readonly all: ReadonlyMap<string, Member>;
}

type BusState = { readonly at: 'down' } | { readonly at: 'up'; readonly sinceMs: number };

export interface Member {
  readonly incarnation: string;
  readonly name: string;
  /** Protocol versions that it reads and writes. */
  readonly protocols: readonly number[];
  /** Sequence of its `join` record. */
  readonly index: number;
  /** Whether it must be given more partitions, until it has its share. */
  readonly isFilling: boolean;
  readonly lastSeenMs: number;
  readonly isUnreachable: boolean;
  readonly beat: Heartbeat | undefined;
  /** Configuration sequence that it has reported as applied. */
  readonly applied: number;
  /** Last comparisons of its clock with this hub's, the latest last. */
  readonly clocks: readonly ClockComparison[];
  readonly standing: MemberState;
}

/** `askAtMs`: time at which the step is due; Infinity while it is in progress. */
type MemberState =
  | { readonly at: 'member' }
  | { readonly at: 'sealing'; readonly askAtMs: number }
  | { readonly at: 'sealed'; readonly askAtMs: number };

/** Events of the state machine. Records come in order, each exactly once; those of other kinds come as `applied`. */
export type Signal =
  | Joined
  | {
      readonly is: 'leave' | 'expel';
      readonly sequence: number;
      readonly incarnation: string;
      readonly map?: PartitionMap;
    }
  | { readonly is: 'map'; readonly sequence: number; readonly map: PartitionMap }
  | { readonly is: 'applied'; readonly sequence: number }
  /** State of the log besides members and map, together with the next record. */
  | { readonly is: 'state'; readonly protocol: number; readonly isSettled: boolean }
  | HeartbeatReceived
  /** A member was queried for its wall-clock time; `askedMs` and `answeredMs` are wall-clock times of this hub. */
  | {
      readonly is: 'clock';
      readonly incarnation: string;
      readonly askedMs: number;
      readonly answeredMs: number;
      readonly clockMs: number;
    }
  /** This hub has measured its loads. */
  | { readonly is: 'measured'; readonly loads: ReadonlyMap<number, number> }
  /** A member reports its applied sequence between heartbeats. */
  | { readonly is: 'hasApplied'; readonly incarnation: string; readonly sequence: number }
  /** A request to a member has found no subscriber. */
  | { readonly is: 'noResponders'; readonly atMs: number; readonly incarnation: string }
  /** An append of this hub was stored. */
  | { readonly is: 'kept'; readonly atMs: number }
  | { readonly is: 'up'; readonly atMs: number }
  | { readonly is: 'down' }
  /** The journal of a member is sealed, in both streams. */
  | { readonly is: 'sealed'; readonly incarnation: string }
  /** An expulsion was not stored, because another record came first. That record must precede this signal. */
  | { readonly is: 'overtaken'; readonly incarnation: string }
  /** Sealing or expelling a member failed, or its outcome is unknown. */
  | { readonly is: 'failed'; readonly atMs: number; readonly incarnation: string };

interface Joined {
  readonly is: 'join';
  readonly sequence: number;
  readonly atMs: number;
  readonly incarnation: string;
  readonly name: string;
  readonly protocols: readonly number[];
}

interface HeartbeatReceived {
  readonly is: 'beat';
  readonly atMs: number;
  readonly beat: Heartbeat;
}

/**
 * Result of a clock query: the member answered with its wall-clock time between the two moments, however long either process
 * was stopped in between, which only makes the comparison less exact.
 */
interface ClockComparison {
  /** How far the member's clock is ahead of this hub's; negative if it lags. */
  readonly aheadMs: number;
  /** Largest error of `aheadMs`, either way. */
  readonly withinMs: number;
}

/** An action of this hub. The outcome of `seal` and `expel` must be signaled; of `append`, only its success. */
export type MembershipStep =
  /** Append a seal to the journal of a member, in both streams. */
  | { readonly do: 'seal'; readonly incarnation: string }
  /** Append an `expel` to the configuration log, with the new map if there is one. `expects`: the last record. */
  | {
      readonly do: 'expel';
      readonly incarnation: string;
      readonly expects: number;
      readonly map: PartitionMap | undefined;
    }
  /** Append something, to test whether that is possible. Repeated with every look; one in flight is enough. */
  | { readonly do: 'append' };

/** Whether this hub may accuse suspects; otherwise the condition that fails, see above. */
export type Accusing = 'may' | 'notMember' | 'down' | 'reconnected' | 'minority' | 'notKept';

export interface ClockDifference {
  readonly incarnation: string;
  readonly name: string;
  /** How far the member's clock is ahead of this hub's; negative if it lags. */
  readonly aheadMs: number;
  readonly isWarning: boolean;
}

export const HEARTBEAT_MS = 250;
/** Silence after which an unreachable member is suspected. */
const UNREACHABLE_SUSPECT_MS = 1000;
/** Additional time before a minority accuses a suspect: one whose connection is lost, and one that is silent. */
const MINORITY_MS = { unreachable: 3000, silent: 10_000 };
const KEPT_WITHIN_MS = 1000;
const RECONNECTED_MS = 3000;
/** Pause before a failed step is retried. */
const RETRY_MS = 100;
const CLOCK_WARNING_MS = 100;
/** Number of comparisons of a clock that are retained. */
const CLOCKS_MAX = 8;
const NEVER = Number.POSITIVE_INFINITY;

interface MembersSettings {
  readonly suspectMs: number;
  readonly ownersMax?: number;
  readonly partitions?: number;
}

/** Initial state. Throws a RangeError unless `suspectMs` is above 0. `ownersMax`: see partition_map.ts. */
export function openMembers(
  self: string,
  { suspectMs, ownersMax = PARTITIONS_MAX, partitions = PARTITIONS }: MembersSettings,
): Members {
  if (!(suspectMs > 0)) throw new RangeError(`Cannot watch members: suspectMs must be above 0, found ${suspectMs}`);
  const connection: BusState = { at: 'down' };
  return {
    ...{
      self,
      suspectMs,
      ownersMax,
      partitions,
      protocol: 1,
      isSettled: false,
      applied: 0,
      map: undefined,
      connection,
    },
    ...{ keptAtMs: -NEVER, ownLoads: new Map(), all: new Map() },
  };
}

/** Members and map of a configuration snapshot, in any order. */
export interface RestoredMembers {
  readonly members: readonly Pick<Member, 'incarnation' | 'name' | 'protocols' | 'index'>[];
  readonly map: PartitionMap | undefined;
  readonly protocol: number;
  readonly isSettled: boolean;
}

/** Starts from the members and the map of a snapshot, before any record. Their silence begins now. */
export function restored(members: Members, snapshot: RestoredMembers, atMs: number): Members {
  const { members: those, map, ...state } = snapshot;
  const inOrder = those.toSorted((one, other) => one.index - other.index);
  const joined = inOrder.reduce((before, { index, ...who }) => {
    return advance(before, { is: 'join', sequence: index, atMs, ...who });
  }, members);
  return filled({ ...joined, ...state, map });
}

/** Applies a signal. Call `look` afterwards. */
export function advance(members: Members, signal: Signal): Members {
  switch (signal.is) {
    case 'join':
      return filled(onJoin(applied(members, signal.sequence), signal));
    case 'leave':
    case 'expel': {
      const all = new Map(members.all);
      all.delete(signal.incarnation);
      for (const [incarnation, member] of all) all.set(incarnation, { ...member, isFilling: true });
      return filled(mapped({ ...applied(members, signal.sequence), all }, signal.map));
    }
    case 'map':
      return filled(mapped(applied(members, signal.sequence), signal.map));
    case 'applied':
      return applied(members, signal.sequence);
    case 'state':
      return { ...members, protocol: signal.protocol, isSettled: signal.isSettled };
    case 'measured':
      return { ...members, ownLoads: signal.loads };
    case 'beat':
      return changed(members, signal.beat.incarnation, (member) => onBeat(member, signal));
    case 'hasApplied':
      return changed(members, signal.incarnation, (member) => {
        return { ...member, applied: Math.max(member.applied, signal.sequence) };
      });
    case 'clock':
      return changed(members, signal.incarnation, (member) => {
        return { ...member, clocks: [...member.clocks, compared(signal)].slice(-CLOCKS_MAX) };
      });
    case 'noResponders':
      return changed(members, signal.incarnation, (member) => {
        return signal.atMs < member.lastSeenMs ? member : { ...member, isUnreachable: true };
      });
    case 'kept':
      return { ...members, keptAtMs: Math.max(members.keptAtMs, signal.atMs) };
    case 'up':
      return members.connection.at === 'up' ? members : onUp(members, signal.atMs);
    case 'down':
      return { ...members, connection: { at: 'down' } };
    case 'sealed':
    case 'overtaken':
    case 'failed':
      return changed(members, signal.incarnation, (member) => ({ ...member, standing: stepped(member, signal) }));
  }
}

/** Returns the steps to take now, and the state with these in progress. Call it after each signal, and at `nextLookMs`. */
export function look(
  members: Members,
  nowMs: number,
): { readonly members: Members; readonly steps: readonly MembershipStep[] } {
  if (members.connection.at === 'down' || !members.all.has(members.self)) return { members, steps: [] };
  const accusing = accusation(members, nowMs);
  const suspected = suspects(members, nowMs);
  const accused = accusable(members, nowMs).filter(({ standing }) => standing.at === 'member');
  const steps: MembershipStep[] = accused.length > 0 && accusing === 'notKept' ? [{ do: 'append' }] : [];
  let next = members;
  const ask = (step: MembershipStep, { incarnation }: Member, at: 'sealing' | 'sealed'): void => {
    steps.push(step);
    next = changed(next, incarnation, (member) => ({ ...member, standing: { at, askAtMs: NEVER } }));
  };
  const isDue = ({ standing }: Member): boolean => standing.at !== 'member' && standing.askAtMs <= nowMs;
  const others = [...members.all.values()];
  const again = others.filter((member) => member.standing.at === 'sealing' && isDue(member));
  for (const member of [...again, ...(accusing === 'may' ? accused : [])]) {
    ask({ do: 'seal', incarnation: member.incarnation }, member, 'sealing');
  }
  const sealed = others.filter(({ standing }) => standing.at === 'sealed');
  const isExpelling = sealed.some(({ standing }) => standing.at === 'sealed' && standing.askAtMs === NEVER);
  const first = isExpelling ? undefined : sealed.find(isDue);
  if (first !== undefined) ask(expulsion(next, first, suspected), first, 'sealed');
  return { members: next, steps };
}

/** Members that have been silent for too long, whether or not this hub may accuse them. */
export function suspects(members: Members, nowMs: number): readonly Member[] {
  return [...members.all.values()].filter((member) => suspectAtMs(members, member) <= nowMs);
}

/** Whether this hub may begin to seal and expel suspects, or why not. */
export function accusation(members: Members, nowMs: number): Accusing {
  const { all, connection, keptAtMs } = members;
  if (!all.has(members.self)) return 'notMember';
  if (connection.at === 'down') return 'down';
  if (nowMs < connection.sinceMs + RECONNECTED_MS) return 'reconnected';
  if (accusable(members, nowMs).length === 0 && suspects(members, nowMs).length > 0) return 'minority';
  if (nowMs >= keptAtMs + KEPT_WITHIN_MS) return 'notKept';
  return 'may';
}

/** Time of the next look if there is no signal until then; Infinity if never. */
export function nextLookMs(members: Members, nowMs: number): number {
  const { connection, keptAtMs, all } = members;
  const times = [keptAtMs + KEPT_WITHIN_MS];
  if (connection.at === 'up') times.push(connection.sinceMs + RECONNECTED_MS);
  for (const member of all.values()) {
    times.push(suspectAtMs(members, member), overdueAtMs(members, member));
    if (member.standing.at !== 'member') times.push(member.standing.askAtMs);
  }
  return Math.min(NEVER, ...times.filter((atMs) => atMs > nowMs));
}

/** Member with the smallest index, which acts on behalf of all; undefined if there are no members. */
export function firstMember({ all }: Members): Member | undefined {
  return all.values().next().value;
}

/**
 * Last configuration record that every member is known to have applied. A member serves only after applying its own `join`, so
 * it has applied at least that.
 */
export function appliedByAll(members: Members): number {
  let least = members.applied;
  for (const { incarnation, applied } of members.all.values()) {
    if (incarnation !== members.self) least = Math.min(least, applied);
  }
  return least;
}

/** Locations per second in each partition, as reported by its owner; 0 if unknown. */
export function loads({ self, all, map, ownLoads }: Members): readonly number[] {
  return (map?.owners ?? []).map((owner, partition) => {
    return (owner === self ? ownLoads : all.get(owner)?.beat?.loads)?.get(partition) ?? 0;
  });
}

/** Differences of the clocks of other members from this hub's, by the most exact of the last comparisons. */
export function clockDifferences({ all }: Members): readonly ClockDifference[] {
  return [...all.values()].flatMap(({ incarnation, name, clocks }) => {
    const [first, ...more] = clocks.toReversed();
    if (first === undefined) return [];
    const { aheadMs, withinMs } = more.reduce((best, each) => (each.withinMs < best.withinMs ? each : best), first);
    return [{ incarnation, name, aheadMs, isWarning: Math.abs(aheadMs) - withinMs > CLOCK_WARNING_MS }];
  });
}

function compared({ askedMs, answeredMs, clockMs }: Signal & { readonly is: 'clock' }): ClockComparison {
  return { aheadMs: clockMs - (askedMs + answeredMs) / 2, withinMs: Math.max(0, answeredMs - askedMs) / 2 };
}

function suspectAtMs({ self, connection, suspectMs }: Members, member: Member): number {
  if (member.incarnation === self || connection.at === 'down') return NEVER;
  const silentFromMs = Math.max(member.lastSeenMs, connection.sinceMs);
  return silentFromMs + (member.isUnreachable ? Math.min(UNREACHABLE_SUSPECT_MS, suspectMs) : suspectMs);
}

/** Time from which a minority may accuse a member. */
function overdueAtMs(members: Members, member: Member): number {
  return suspectAtMs(members, member) + (member.isUnreachable ? MINORITY_MS.unreachable : MINORITY_MS.silent);
}

/** Suspects that this hub may accuse, if it may accuse at all. */
function accusable(members: Members, nowMs: number): readonly Member[] {
  const suspected = suspects(members, nowMs);
  const voters = [...members.all.values()].filter(({ standing }) => standing.at !== 'sealed');
  const seen = voters.filter((member) => !suspected.includes(member));
  const hasMajority = seen.length * 2 > voters.length || members.all.size === 2;
  const hasHalf = seen.length * 2 === voters.length && seen.at(-1) === voters.at(-1);
  if (hasMajority || hasHalf) return suspected;
  return suspected.filter((member) => overdueAtMs(members, member) <= nowMs);
}

/** Members that may be given partitions, in the order of indexes: neither suspects nor members being expelled. */
export function successors({ all }: Members, suspected: readonly Member[]): readonly string[] {
  const passedOver = new Set(suspected.map(({ incarnation }) => incarnation));
  return [...all.values()]
    .filter(({ incarnation, standing }) => standing.at === 'member' && !passedOver.has(incarnation))
    .map(({ incarnation }) => incarnation);
}

function onJoin(members: Members, { incarnation, name, protocols, sequence, atMs }: Joined): Members {
  if (members.all.has(incarnation)) return members;
  const member: Member = {
    incarnation,
    name,
    protocols,
    index: sequence,
    isFilling: true,
    lastSeenMs: atMs,
    isUnreachable: false,
    beat: undefined,
    applied: sequence,
    clocks: [],
    standing: { at: 'member' },
  };
  const all = new Map(members.all).set(incarnation, member);
  if (incarnation !== members.self) return { ...members, all };
  // This hub received nothing before its join: silence counts from here.
  const seenFromHere = ([id, each]: [string, Member]): [string, Member] => {
    return [id, { ...each, lastSeenMs: Math.max(each.lastSeenMs, atMs), isUnreachable: false }];
  };
  return { ...members, all: new Map([...all].map(seenFromHere)) };
}

function onBeat(member: Member, { atMs, beat }: HeartbeatReceived): Member {
  // The applied sequence never decreases, so this heartbeat was sent before one that arrived earlier.
  if (member.beat !== undefined && beat.applied < member.beat.applied) return member;
  const applied = Math.max(member.applied, beat.applied);
  return { ...member, lastSeenMs: Math.max(member.lastSeenMs, atMs), isUnreachable: false, beat, applied };
}

/** Members that seemed unreachable may have been reachable all along, if this hub was cut off. */
function onUp(members: Members, sinceMs: number): Members {
  const all = new Map<string, Member>();
  for (const [incarnation, member] of members.all) all.set(incarnation, { ...member, isUnreachable: false });
  return { ...members, connection: { at: 'up', sinceMs }, all };
}

/** State after the outcome of a step; unchanged if the step is no longer in progress. */
function stepped(
  { standing }: Member,
  signal: { readonly is: 'sealed' | 'overtaken' } | { readonly is: 'failed'; readonly atMs: number },
): MemberState {
  if (standing.at === 'member') return standing;
  const isUnderWay = standing.askAtMs === NEVER;
  switch (signal.is) {
    case 'sealed':
      // An attempt that was given up may have succeeded nevertheless.
      return standing.at === 'sealing' ? { at: 'sealed', askAtMs: -NEVER } : standing;
    case 'overtaken':
      return standing.at === 'sealed' && isUnderWay ? { at: 'sealed', askAtMs: -NEVER } : standing;
    case 'failed':
      return isUnderWay ? { at: standing.at, askAtMs: signal.atMs + RETRY_MS } : standing;
  }
}

/** Suspects get none of its partitions. */
function expulsion(members: Members, { incarnation }: Member, suspected: readonly Member[]): MembershipStep {
  const { map, applied, ownersMax } = members;
  const next = map && afterLeave(map, { gone: incarnation, members: successors(members, suspected), ownersMax });
  return { do: 'expel', incarnation, expects: applied, map: next };
}

function applied(members: Members, sequence: number): Members {
  if (sequence > members.applied) return { ...members, applied: sequence };
  throw new RangeError(`Cannot apply a record: sequence must be above ${members.applied}, found ${sequence}`);
}

/** All hubs see the same records in the same order, so all of them ignore a map that was made from an outdated one. */
function mapped(members: Members, map: PartitionMap | undefined): Members {
  return replaces(map, members.map) ? { ...members, map } : members;
}

/** Ends filling for members that have their share. */
function filled(members: Members): Members {
  const { all, map, ownersMax } = members;
  if (map === undefined) return members;
  const share = Math.floor(map.owners.length / Math.min(all.size, ownersMax));
  const counts = Map.groupBy(map.owners, (owner) => owner);
  const isFull = ([incarnation, { isFilling }]: [string, Member]): boolean => {
    return isFilling && (counts.get(incarnation)?.length ?? 0) >= share;
  };
  const full = [...all].filter(isFull).map(([incarnation]) => incarnation);
  return full.reduce((before, each) => changed(before, each, (member) => ({ ...member, isFilling: false })), members);
}

function changed(members: Members, incarnation: string, change: (member: Member) => Member): Members {
  const before = members.all.get(incarnation);
  if (before === undefined) return members;
  return { ...members, all: new Map(members.all).set(incarnation, change(before)) };
}
