import { PARTITIONS, PARTITIONS_MAX } from '../../shards/affinity.ts';
import type { AppliedRecord } from '../config/config_log.ts';
import { partitionMap } from '../config/config_state.ts';
import type { Heartbeat } from '../messages/messages.ts';
import { type PartitionMap, replaces } from './partition_map.ts';
import { type Contact, reported } from './reporters.ts';

/**
 * State machine of membership: the members of the cluster, the suspects, and the actions of this hub. The configuration log
 * defines the members, so all hubs agree on them. Suspicion is local: each hub judges by the messages that it receives.
 *
 * States of another member at this hub:
 *
 *   state     signal                                next state
 *   --------  ------------------------------------  ------------------------------------------------------------------
 *   none      join                                  member: its silence begins
 *   member    beat of its own                       member: its silence begins again; it is reachable
 *   member    beat of a reporter that has seen it   member: its silence begins later, if the report counts
 *   member    noResponders                          member: unreachable, unless a message of it came since
 *   member    unanswered                            member: reports do not count, unless a message of it came since
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
 * suspicion.ts says when a member is suspected, and when this hub acts on that; reporters.ts, which heartbeats contain reports.
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
  readonly committedAtMs: number;
  /** Locations per second in each partition of this hub. */
  readonly ownLoads: ReadonlyMap<number, number>;
  /** By member id, this hub included once it has joined; in the order of their indexes. */
  readonly all: ReadonlyMap<string, Member>;
}

type BusState = { readonly at: 'down' } | { readonly at: 'up'; readonly sinceMs: number };

export interface Member extends Contact {
  readonly incarnation: string;
  readonly name: string;
  /** Protocol versions that it reads and writes. */
  readonly protocols: readonly number[];
  /** Sequence of its `join` record. */
  readonly index: number;
  /** Whether it must be given more partitions, until it has its share. */
  readonly isFilling: boolean;
  readonly beat: Heartbeat | undefined;
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
  /** A ping of a member, sent at `atMs`, has found no subscriber, or was not answered. */
  | { readonly is: 'noResponders' | 'unanswered'; readonly atMs: number; readonly incarnation: string }
  /** An append of this hub was stored. */
  | { readonly is: 'committed'; readonly atMs: number }
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

export const HEARTBEAT_MS = 250;
/** Pause before a failed step is retried. */
const RETRY_MS = 100;
/** Number of comparisons of a clock that are retained. */
const CLOCKS_MAX = 8;
export const NEVER = Number.POSITIVE_INFINITY;

/** Initial state. Throws a RangeError unless `suspectMs` is above 0. `ownersMax`: see partition_map.ts. */
export function openMembers(
  self: string,
  {
    suspectMs,
    ownersMax = PARTITIONS_MAX,
    partitions = PARTITIONS,
  }: Pick<Members, 'suspectMs'> & Partial<Pick<Members, 'ownersMax' | 'partitions'>>,
): Members {
  if (!(suspectMs > 0)) throw new RangeError(`Cannot watch members: suspectMs must be above 0, found ${suspectMs}`);
  const nothing = { protocol: 1, isSettled: false, applied: 0, map: undefined, ownLoads: new Map(), all: new Map() };
  return { self, suspectMs, ownersMax, partitions, ...nothing, connection: { at: 'down' }, committedAtMs: -NEVER };
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

/** Signal of a record of the configuration log. */
export function signalOf({ sequence, body }: AppliedRecord, atMs: number): Signal {
  switch (body.kind) {
    case 'join': {
      const { incarnation, name, protocols } = body;
      return { is: 'join', sequence, atMs, incarnation, name, protocols };
    }
    case 'leave':
    case 'expel': {
      const map = partitionMap(body);
      return { is: body.kind, sequence, incarnation: body.incarnation, ...(map && { map }) };
    }
    case 'map': {
      const map = partitionMap(body);
      return map === undefined ? { is: 'applied', sequence } : { is: 'map', sequence, map };
    }
    default:
      return { is: 'applied', sequence };
  }
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
      return onBeat(members, signal);
    case 'hasApplied':
      return changed(members, signal.incarnation, (member) => {
        return { ...member, applied: Math.max(member.applied, signal.sequence) };
      });
    case 'clock':
      return changed(members, signal.incarnation, (member) => {
        return { ...member, clocks: [...member.clocks, compared(signal)].slice(-CLOCKS_MAX) };
      });
    case 'noResponders':
    case 'unanswered':
      return changed(members, signal.incarnation, (member) => {
        return signal.atMs < member.receivedMs ? member : { ...member, ping: signal.is };
      });
    case 'committed':
      return { ...members, committedAtMs: Math.max(members.committedAtMs, signal.atMs) };
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

function compared({ askedMs, answeredMs, clockMs }: Signal & { readonly is: 'clock' }): ClockComparison {
  return { aheadMs: clockMs - (askedMs + answeredMs) / 2, withinMs: Math.max(0, answeredMs - askedMs) / 2 };
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
    receivedMs: atMs,
    ping: 'answered',
    beat: undefined,
    applied: sequence,
    clocks: [],
    standing: { at: 'member' },
  };
  const all = new Map(members.all).set(incarnation, member);
  if (incarnation !== members.self) return { ...members, all };
  // This hub received nothing before its join: silence counts from here.
  return { ...members, all: new Map(Array.from(all, ([id, each]) => [id, received(each, atMs)])) };
}

function onBeat(members: Members, { atMs, beat }: HeartbeatReceived): Members {
  const sender = members.all.get(beat.incarnation);
  // The applied sequence never decreases, so this heartbeat was sent before one that arrived earlier.
  if (sender === undefined || beat.applied < (sender.beat?.applied ?? 0)) return members;
  const applied = Math.max(sender.applied, beat.applied);
  const all = new Map(members.all).set(beat.incarnation, { ...received(sender, atMs), beat, applied });
  return { ...members, all: reported({ self: members.self, all }, beat.seen, atMs) };
}

/** A message of the member has arrived. */
function received(member: Member, atMs: number): Member {
  const [lastSeenMs, receivedMs] = [Math.max(member.lastSeenMs, atMs), Math.max(member.receivedMs, atMs)];
  return { ...member, lastSeenMs, receivedMs, ping: 'answered' };
}

/** Members that have answered no ping may have been reachable all along, if this hub was cut off. */
function onUp(members: Members, sinceMs: number): Members {
  const all = new Map<string, Member>();
  for (const [incarnation, member] of members.all) all.set(incarnation, { ...member, ping: 'answered' });
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

/**
 * Whether a later member has the name of this one: then this one was a process of a hub that has started again, unless two hubs
 * have the same name by mistake.
 */
export function isSuperseded({ all }: Members, { name, index }: Pick<Member, 'name' | 'index'>): boolean {
  return successorOf({ all }, { name, index }) !== undefined;
}

/** Latest member with the name of an earlier one. */
export function successorOf(
  { all }: Pick<Members, 'all'>,
  { name, index }: Pick<Member, 'name' | 'index'>,
): Member | undefined {
  let found: Member | undefined;
  for (const member of all.values()) if (member.name === name && member.index > index) found = member;
  return found;
}

/** Changes one member, if it is there. */
export function changed(members: Members, incarnation: string, change: (member: Member) => Member): Members {
  const before = members.all.get(incarnation);
  if (before === undefined) return members;
  return { ...members, all: new Map(members.all).set(incarnation, change(before)) };
}
