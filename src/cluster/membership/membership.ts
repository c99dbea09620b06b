import { hubError, type HubError } from '../../errors.ts';
import { pingSubject } from './admission.ts';
import { APPLIED, HEARTBEAT, type Heartbeat } from '../messages/messages.ts';
import { ProtocolErrors } from '../messages/protocol_errors.ts';
import type { Bus, StreamState, Subscription } from '../nats/bus.ts';
import type { AppliedRecord, ConfigLog } from '../config/config_log.ts';
import { type ConfigState, isSettled, mapFields, partitionMap } from '../config/config_state.ts';
import { sealJournal } from '../journal/hub_journal.ts';
import { journalSubjects, journalStreams } from '../journal/journal_streams.ts';
import type { PartitionMap } from './partition_map.ts';
import {
  type Accusing,
  accusation,
  appliedByAll,
  HEARTBEAT_MS,
  clockDifferences,
  firstMember,
  look,
  type Member,
  type Members,
  nextLookMs,
  openMembers,
  restored,
  type Signal,
  type MembershipStep,
  suspects,
  advance,
} from './members.ts';
import type { Notice } from '../notice.ts';
import {
  mapWithoutSelf,
  type Imbalance,
  type CoordinatorRecord,
  imbalancedSince,
  coordinatorRecord,
} from './coordinator.ts';

/**
 * Membership of this hub in its cluster: feeds the state machine of members.ts with signals, and executes its steps.
 *
 *   input                                   signal                  action
 *   --------------------------------------  ----------------------  ---------------------------------------------------
 *   records of the configuration log        join, leave, expel, map
 *   `<name>.beat`, every 250 ms of each     beat                    sends heartbeats as well, while it is a member
 *   `<name>.applied.<incarnation>`          hasApplied              reports its last record, once a ms at most, to the
 *                                                                   hubs that have appended changes, since they wait
 *   `<name>.in.<incarnation>.ping`          beat and clock, or      queries each every 2 s, and silent ones after 500 ms;
 *                                           noResponders            answers with a heartbeat
 *   the connection, and standstills         up, down
 *   a barrier of its own journal            kept                    when the state machine wants an append
 *   seals of the journal of a suspect       sealed                  in both streams
 *   an `expel` appended                     overtaken               after the applied records
 *
 * A process that was stopped for a second has received nothing, and must not judge others: this is signaled as a connection
 * that was lost and is back.
 *
 * Journals are sealed in existing streams, since a hub creates them before it joins. If a seal does not succeed within 2 s, the
 * streams are inspected. A missing one, which only another hub can have deleted, is created as its owner would, so that the
 * seal is its first message, whichever hub appends later. A full one is enlarged for seals.
 *
 * A hub that leaves seals its own journal first, so that its successors read a complete journal.
 */
export interface ClusterMembershipOptions {
  readonly bus: Bus;
  /** Name of the cluster. */
  readonly name: string;
  readonly incarnation: string;
  /** Stays the same after a restart. */
  readonly hubName: string;
  /** Digest of the settings that must be equal. */
  readonly digest: string;
  /** Protocol versions that it reads and writes. */
  readonly protocols: readonly number[];
  /** How many members may own partitions once all of them know of several; all of them when left out. */
  readonly ownersMax?: number;
  /** Number of partitions of a new cluster; 256 when left out. */
  readonly partitions?: number;
  /** Silence after which a member is suspected; 2,000 when left out. */
  readonly suspectMs?: number;
  /** Creates the journal streams of a member, as each hub does with its own before it joins. */
  makeJournal(incarnation: string): Promise<void>;
  /** Number of locations that this hub can accept. */
  room(): number;
  /** Locations per second in each of its partitions. */
  loads(): ReadonlyMap<number, number>;
  /** Resolves when an append to its own journal was stored that began after this call. */
  barrier(): Promise<void>;
  /** Reports the map at the join of this hub, and each later one, after the record is applied. */
  onMap(map: PartitionMap): void;
  /** Another hub has expelled this one. It does nothing any more. */
  out(): void;
  readonly notice: Notice;
  /** Monotonic time in milliseconds. */
  elapsed(): number;
  /** Wall-clock time in milliseconds. */
  now(): number;
  /** Calls `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

export interface Leaving {
  readonly timeoutMs?: number;
  /** Its journal is sealed, and the `leave` record comes next. */
  sealed?(): void;
}

/** Status of a member, as this hub sees it. */
export interface MemberStatus {
  readonly incarnation: string;
  readonly name: string;
  readonly isSelf: boolean;
  readonly isSuspect: boolean;
  /** 0 for this hub. */
  readonly silentMs: number;
  /** Configuration sequence that it has reported as applied. */
  readonly applied: number;
  /** How far its clock is ahead of this hub's; undefined if unknown. */
  readonly aheadMs: number | undefined;
}

const SUSPECT_MS = 2000;
/** Silence after which a member is pinged. */
const PING_AFTER_MS = 500;
const PING_MS = 1000;
/** Least interval at which the clock of a member is compared, in heartbeats. */
const CLOCK_BEATS = 8;
/** Time without a look after which the process counts as stopped. */
const STILL_MS = 1000;
/** Least interval between reports of the applied sequence. */
const APPLIED_MS = 1;
/** Time after which the streams of an unsealed journal are inspected. */
const SEAL_MS = 2000;
/** Additional size of a full stream. */
const SEAL_BYTES = 1 << 20;
/** Time that a reason against accusing must last before it is logged. */
const REASON_MS = 500;
const READY_MS = 12_000;
const LEAVE_MS = 10_000;
/** Most requests that may wait until all have applied a record. */
const WAITING_MAX = 10_000;

/** Starts to watch the connection. Pass all records from now on, and call `join`. */
export function openMembership(options: ClusterMembershipOptions): ClusterMembership {
  return new ClusterMembership(options);
}

/** Life cycle from joining to leaving. */
type JoinState = 'opening' | 'joining' | 'member' | 'ended';

/** A request that waits until all have applied a record. */
interface Waiting {
  readonly sequence: number;
  end(error?: HubError): void;
}

export class ClusterMembership {
  readonly #options: ClusterMembershipOptions;
  #members: Members;
  #standing: JoinState = 'opening';
  #log: Pick<ConfigLog, 'append'> | undefined;
  readonly #unwatch: () => void;
  #subscriptions: Subscription[] = [];
  #cancelTick: () => void = () => undefined;
  #cancelLook: () => void = () => undefined;
  #lookedAtMs = 0;
  readonly #waiting = new Set<Waiting>();
  /** Members with a pending ping. */
  readonly #asked = new Set<string>();
  readonly #notices: Notices;
  readonly #malformed: ProtocolErrors;
  #isProving = false;
  #isKeeping = false;
  #imbalance: Imbalance | undefined;
  #isTelling = false;
  /** Member ids of the hubs that wait until this one has applied their changes. */
  #waitingHubs = new Set<string>();
  #beats = 0;

  /** Called by openMembership only. */
  constructor(options: ClusterMembershipOptions) {
    const { incarnation, suspectMs = SUSPECT_MS, bus, elapsed, notice } = options;
    this.#options = options;
    this.#members = openMembers(incarnation, { ...options, suspectMs });
    this.#notices = new Notices(notice);
    this.#malformed = new ProtocolErrors('members', notice);
    this.#unwatch = bus.watch(({ at }) => this.#tell(at === 'up' ? { is: at, atMs: elapsed() } : { is: at }));
  }

  /** Starts from the members and the map of a snapshot, before any record. */
  restore(state: ConfigState): void {
    const { map, protocol } = state;
    const snapshot = { members: [...state.members.values()], map, protocol, isSettled: isSettled(state) };
    this.#members = restored(this.#members, snapshot, this.#options.elapsed());
  }

  /**
   * Takes each record of the configuration log, in order, when everything else of it is applied. `state`: the configuration
   * after it.
   */
  record(record: AppliedRecord, state: ConfigState): void {
    if (this.#standing === 'ended') return;
    const { map } = this.#members;
    const signal = signalOf(record, this.#options.elapsed());
    // Earlier events of other hubs are not logged.
    if (this.#standing !== 'opening') this.#notices.record(this.#members, signal);
    this.#tell({ is: 'state', protocol: state.protocol, isSettled: isSettled(state) }, signal);
    const isOwn = 'incarnation' in signal && signal.incarnation === this.#members.self;
    if (isOwn && signal.is === 'join') this.#begin();
    else if (isOwn) this.#leftBy(signal.is);
    if (this.#standing !== 'member') return;
    this.#noteWaiting(record);
    this.#sayApplied();
    if (this.#members.map !== map || (isOwn && map !== undefined)) this.#sayMap();
  }

  /**
   * Joins the cluster, once the log is open and its journal streams exist. Resolves when its own `join` is applied; rejects
   * with HUB_UNAVAILABLE if that takes too long.
   */
  async join(log: Pick<ConfigLog, 'append'>): Promise<void> {
    const { incarnation, hubName, protocols, digest } = this.#options;
    if (this.#standing !== 'opening')
      throw hubError('in_transition', { operation: 'join_cluster', state: this.#standing });
    this.#standing = 'joining';
    this.#log = log;
    this.#listen();
    // Other members must be able to ping it.
    await this.#within(READY_MS, 'join_cluster', Promise.all(this.#subscriptions.map(({ ready }) => ready)));
    await log.append({ kind: 'join', incarnation, name: hubName, protocols, digest });
  }

  /**
   * Leaves the cluster: seals its own journal, and assigns its partitions to others. Call it once nothing is appended any more.
   * Resolves when others have it; rejects with HUB_UNAVAILABLE if that takes too long: others then expel this hub as a failed
   * one. Call `close` in either case.
   */
  async leave({ timeoutMs = LEAVE_MS, sealed = () => undefined }: Leaving = {}): Promise<void> {
    if (this.#standing !== 'member') return;
    let isLate = false;
    const left = this.#leave(() => isLate, sealed);
    try {
      await this.#within(timeoutMs, 'leave_cluster', left);
    } finally {
      isLate = true;
      left.catch(() => undefined);
    }
  }

  /** Stops at once, without notifying others. */
  close(): void {
    this.#end();
    this.#unwatch();
  }

  /**
   * Resolves when every member has applied a record of the configuration log, or is expelled. Rejects with HUB_UNAVAILABLE if
   * that is not confirmed in time.
   */
  async appliedByAll(sequence: number, timeoutMs: number): Promise<void> {
    if (this.#standing !== 'member') {
      throw hubError('not_a_member', WAIT);
    }
    if (appliedByAll(this.#members) >= sequence) return;
    if (this.#waiting.size >= WAITING_MAX) {
      throw hubError('too_many_waiting', { ...WAIT, count: WAITING_MAX });
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = {
      sequence,
      end: (error) => {
        cancel();
        this.#waiting.delete(waiting);
        if (error === undefined) resolve();
        else reject(error);
      },
    };
    const cancel = this.#options.schedule(timeoutMs, () => waiting.end(this.#lateError(sequence, timeoutMs)));
    this.#waiting.add(waiting);
    return promise;
  }

  /** Number of skipped messages, which were malformed or of another version. */
  get protocolErrors(): number {
    return this.#malformed.count;
  }

  /** Whether this hub is a member. */
  get isMember(): boolean {
    return this.#standing === 'member';
  }

  /** Whether this hub is the member with the smallest index, which acts on behalf of all. */
  get isFirst(): boolean {
    return this.isMember && firstMember(this.#members)?.incarnation === this.#members.self;
  }

  /** Whether this hub may begin to expel suspects, or why not. */
  get accusing(): Accusing {
    return accusation(this.#members, this.#options.elapsed());
  }

  get map(): PartitionMap | undefined {
    return this.#members.map;
  }

  /** Member id of the owner of a partition; undefined while it is unowned. */
  ownerOf(partition: number): string | undefined {
    return this.#members.map?.owners[partition] || undefined;
  }

  /** All members, in the order of their joins. */
  get members(): readonly MemberStatus[] {
    const nowMs = this.#options.elapsed();
    const { self, all, applied } = this.#members;
    const suspected = new Set(suspects(this.#members, nowMs).map(({ incarnation }) => incarnation));
    const ahead = new Map(clockDifferences(this.#members).map(({ incarnation, aheadMs }) => [incarnation, aheadMs]));
    return [...all.values()].map((member) => {
      const { incarnation, name } = member;
      const isSelf = incarnation === self;
      return {
        ...{ incarnation, name, isSelf, isSuspect: suspected.has(incarnation), aheadMs: ahead.get(incarnation) },
        silentMs: isSelf ? 0 : nowMs - member.lastSeenMs,
        applied: isSelf ? applied : member.applied,
      };
    });
  }

  #tell(...signals: readonly Signal[]): void {
    if (this.#standing === 'ended') return;
    this.#members = signals.reduce(advance, this.#members);
    this.#answerWaiting();
    this.#look();
  }

  /** Takes the steps that are due, and schedules the next look. */
  #look(): void {
    if (this.#standing !== 'member') return;
    const nowMs = this.#options.elapsed();
    if (nowMs - this.#lookedAtMs > STILL_MS && this.#members.connection.at === 'up') {
      this.#members = advance(advance(this.#members, { is: 'down' }), { is: 'up', atMs: nowMs });
    }
    this.#lookedAtMs = nowMs;
    const { members, steps } = look(this.#members, nowMs);
    this.#members = members;
    for (const step of steps) this.#do(step);
    const due = this.#isKeeping ? undefined : coordinatorRecord(members, nowMs, this.#imbalance);
    if (due !== undefined) void this.#keepUp(due);
    this.#notices.look(members, nowMs);
    this.#cancelLook();
    const nextMs = nextLookMs(members, nowMs);
    if (nextMs === Number.POSITIVE_INFINITY) return;
    this.#cancelLook = this.#options.schedule(nextMs - nowMs, () => this.#look());
  }

  #do(step: MembershipStep): void {
    switch (step.do) {
      case 'append':
        if (!this.#isProving) void this.#prove();
        return;
      case 'seal':
        void this.#seal(step);
        return;
      case 'expel':
        void this.#expel(step);
        return;
    }
  }

  /** An append is stored after it began, and the process may be stopped before the answer arrives, so its start counts. */
  async #prove(): Promise<void> {
    this.#isProving = true;
    const atMs = this.#options.elapsed();
    const isKept = await this.#options.barrier().then(
      () => true,
      // The journal reports the error.
      () => false,
    );
    this.#isProving = false;
    if (isKept) this.#tell({ is: 'kept', atMs });
  }

  async #seal({ incarnation }: MembershipStep & { readonly do: 'seal' }): Promise<void> {
    const isOff = (): boolean => this.#standing !== 'member' || !this.#members.all.has(incarnation);
    try {
      await this.#sealJournal({ incarnation, isOff });
      if (!isOff()) this.#tell({ is: 'sealed', incarnation });
    } catch (error) {
      this.#options.notice(`Cannot seal the journal of ${incarnation}: ${(error as Error).message}`);
      this.#tell({ is: 'failed', atMs: this.#options.elapsed(), incarnation });
    }
  }

  /** Resolves when the journal of a member is sealed, or when that is no longer needed. */
  async #sealJournal({ incarnation, isOff }: Sealed): Promise<void> {
    const { bus, name, hubName, schedule } = this.#options;
    let isDone = false;
    const lookLater = (): (() => void) =>
      schedule(SEAL_MS, () => {
        if (isDone || isOff()) return;
        cancel = lookLater();
        void this.#mendJournal(incarnation);
      });
    let cancel = lookLater();
    const places = journalSubjects(name, incarnation);
    try {
      await sealJournal({ bus, places, schedule, by: hubName, isOff });
    } finally {
      isDone = true;
      cancel();
    }
  }

  /** Makes the streams of a member accept seals. */
  async #mendJournal(incarnation: string): Promise<void> {
    const { bus, name, makeJournal, notice } = this.#options;
    const wanted = journalStreams(name, incarnation);
    try {
      const found = await bus.streams(`${name}_J_${incarnation}_`);
      const missing = wanted.filter((stream) => !found.some((state) => state.name === stream.name));
      if (missing.length > 0) {
        notice(`Making ${missing.map((stream) => stream.name).join(', ')} again, so that they can be sealed`);
        await makeJournal(incarnation);
      }
      for (const state of found) if (isFull(state)) await bus.alterStream(withRoom(state));
    } catch (error) {
      notice(`Cannot repair the journal streams of ${incarnation}: ${(error as Error).message}`);
    }
  }

  async #expel({ incarnation, expects, map }: MembershipStep & { readonly do: 'expel' }): Promise<void> {
    try {
      const appended = await this.#log?.append({ kind: 'expel', incarnation, ...mapFields(map) }, expects);
      if (appended?.at === 'overtaken') this.#tell({ is: 'overtaken', incarnation });
    } catch (error) {
      this.#options.notice(`Cannot expel ${incarnation}: ${(error as Error).message}`);
      this.#tell({ is: 'failed', atMs: this.#options.elapsed(), incarnation });
    }
  }

  async #keepUp(due: CoordinatorRecord): Promise<void> {
    this.#isKeeping = true;
    const body =
      due.is === 'map'
        ? ({ kind: 'map', ...mapFields(due.map) } as const)
        : ({ kind: 'protocol', version: due.version } as const);
    try {
      await this.#log?.append(body, this.#members.applied);
      this.#isKeeping = false;
      this.#look();
    } catch (error) {
      // The next heartbeat looks again.
      this.#isKeeping = false;
      const what = due.is === 'map' ? 'a partition map' : `protocol version ${due.version}`;
      this.#options.notice(`Cannot append ${what}: ${(error as Error).message}`);
    }
  }

  async #leave(isLate: () => boolean, sealed: () => void): Promise<void> {
    const { incarnation } = this.#options;
    const isOff = (): boolean => isLate() || this.#standing !== 'member';
    await this.#sealJournal({ incarnation, isOff });
    if (!isOff()) sealed();
    while (!isOff()) {
      const map = mapWithoutSelf(this.#members, this.#options.elapsed());
      await this.#log?.append({ kind: 'leave', incarnation, ...mapFields(map) }, this.#members.applied);
    }
  }

  #listen(): void {
    const { bus, name, incarnation, elapsed } = this.#options;
    this.#subscriptions = [
      bus.subscribe(`${name}.beat`, ({ bytes }) => {
        const beat = this.#malformed.reading(() => HEARTBEAT.read(bytes));
        if (beat !== undefined) this.#tell({ is: 'beat', atMs: elapsed(), beat });
      }),
      bus.subscribe(appliedSubject(name, incarnation), ({ bytes }) => {
        const applied = this.#malformed.reading(() => APPLIED.read(bytes));
        if (applied !== undefined) this.#tell({ is: 'hasApplied', ...applied });
      }),
      bus.subscribe(pingSubject(name, incarnation), ({ reply }) => {
        if (reply !== '') bus.publish(reply, HEARTBEAT.pack(this.#beat()));
      }),
    ];
  }

  /** Its own join is applied. */
  #begin(): void {
    if (this.#standing !== 'joining') return;
    this.#standing = 'member';
    this.#lookedAtMs = this.#options.elapsed();
    this.#tick();
  }

  #tick(): void {
    if (this.#standing !== 'member') return;
    const { bus, name, schedule, elapsed } = this.#options;
    this.#cancelTick = schedule(HEARTBEAT_MS, () => this.#tick());
    const beat = this.#beat();
    bus.publish(`${name}.beat`, HEARTBEAT.pack(beat));
    this.#members = advance(this.#members, { is: 'measured', loads: beat.loads });
    this.#imbalance = imbalancedSince(this.#members, elapsed(), this.#imbalance);
    this.#look();
    this.#askMembers();
  }

  #beat(): Heartbeat {
    const { incarnation, now, room, loads } = this.#options;
    return { incarnation, applied: this.#members.applied, clockMs: now(), room: room(), loads: loads() };
  }

  /** Pings silent members; and each in turn, one at a time from CLOCK_BEATS others on, to compare clocks. */
  #askMembers(): void {
    const { self, all, connection } = this.#members;
    if (connection.at === 'down') return;
    const untilMs = this.#options.elapsed() - PING_AFTER_MS;
    const others = [...all.values()].filter(({ incarnation }) => incarnation !== self);
    const turn = this.#beats++ % Math.max(CLOCK_BEATS, others.length);
    for (const [index, { incarnation, lastSeenMs }] of others.entries()) {
      const isDue = index === turn || Math.max(lastSeenMs, connection.sinceMs) < untilMs;
      if (isDue && !this.#asked.has(incarnation)) void this.#ask(incarnation);
    }
  }

  async #ask(incarnation: string): Promise<void> {
    const { bus, name, elapsed, now } = this.#options;
    const [atMs, askedMs] = [elapsed(), now()];
    this.#asked.add(incarnation);
    try {
      const asking = { timeoutMs: PING_MS, read: HEARTBEAT.read };
      const answer = await bus.request(pingSubject(name, incarnation), new Uint8Array(), asking);
      if (answer.at === 'noResponders') this.#tell({ is: 'noResponders', atMs, incarnation });
      if (answer.at === 'answered') {
        const { value: beat } = answer;
        this.#tell({ is: 'clock', incarnation, askedMs, answeredMs: now(), clockMs: beat.clockMs });
        this.#tell({ is: 'beat', atMs: elapsed(), beat });
      }
    } catch (error) {
      this.#notices.once('ping', `Cannot ask ${incarnation}: ${(error as Error).message}`);
    } finally {
      this.#asked.delete(incarnation);
    }
  }

  /** The hub that has appended a change of entities answers its client when all hubs have applied it. */
  #noteWaiting({ body }: AppliedRecord): void {
    if (body.kind !== 'change' && body.kind !== 'regroup') return;
    const { self, all } = this.#members;
    for (const { name, incarnation } of all.values()) {
      if (name === body.by && incarnation !== self) this.#waitingHubs.add(incarnation);
    }
  }

  /** Reports the applied sequence at once, and later ones after a millisecond. Heartbeats repeat it, and reach all hubs. */
  #sayApplied(): void {
    if (this.#isTelling || this.#waitingHubs.size === 0) return;
    this.#isTelling = true;
    // After the record is applied as a whole.
    queueMicrotask(() => {
      const { bus, name, schedule } = this.#options;
      if (this.#standing !== 'member') return;
      const { self: incarnation, applied: sequence } = this.#members;
      const waiting = this.#waitingHubs;
      this.#waitingHubs = new Set();
      for (const hub of waiting) bus.publish(appliedSubject(name, hub), APPLIED.pack({ incarnation, sequence }));
      schedule(APPLIED_MS, () => {
        this.#isTelling = false;
        this.#sayApplied();
      });
    });
  }

  #sayMap(): void {
    const { map } = this.#members;
    queueMicrotask(() => {
      if (map !== undefined && this.#standing === 'member') this.#options.onMap(map);
    });
  }

  #answerWaiting(): void {
    if (this.#waiting.size === 0) return;
    const sequence = appliedByAll(this.#members);
    for (const waiting of this.#waiting) if (waiting.sequence <= sequence) waiting.end();
  }

  #lateError(sequence: number, timeoutMs: number): HubError {
    const late = this.members
      .filter(({ applied }) => applied < sequence)
      .map(({ name, applied }) => `${name} ${applied}`);
    return hubError('members_late', { sequence, limit: timeoutMs, members: late });
  }

  /** This hub has left, or was expelled. */
  #leftBy(record: Signal['is']): void {
    const isOut = record === 'expel' && this.#standing === 'member';
    this.#end();
    if (isOut) queueMicrotask(() => this.#options.out());
  }

  #end(): void {
    if (this.#standing === 'ended') return;
    this.#standing = 'ended';
    this.#cancelTick();
    this.#cancelLook();
    for (const subscription of this.#subscriptions) subscription.end();
    for (const { end } of this.#waiting) end(hubError('not_a_member', WAIT));
  }

  /** Result of the promise in time; rejects with HUB_UNAVAILABLE otherwise. */
  #within<Value>(ms: number, operation: 'join_cluster' | 'leave_cluster', coming: Promise<Value>): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    const cancel = this.#options.schedule(ms, () => reject(hubError('not_done_in_time', { operation, limit: ms })));
    coming.then(resolve, reject).finally(cancel);
    return promise;
  }
}

interface Sealed {
  readonly incarnation: string;
  isOff(): boolean;
}

/** Log lines about members: one when a condition begins, and one when it ends. */
class Notices {
  readonly #notice: Notice;
  readonly #once = new Set<string>();
  readonly #suspected = new Set<string>();
  #reason: { readonly accusing: Accusing; readonly sinceMs: number; readonly isReported: boolean } | undefined;

  constructor(notice: Notice) {
    this.#notice = notice;
  }

  once(what: string, text: string): void {
    if (this.#once.has(what)) return;
    this.#once.add(what);
    this.#notice(text);
  }

  /** Call it before the signal is applied. */
  record({ all }: Members, signal: Signal): void {
    if (signal.is !== 'expel' && signal.is !== 'leave') return;
    const member = all.get(signal.incarnation);
    this.#suspected.delete(signal.incarnation);
    this.#once.delete(clockOf(signal.incarnation));
    if (member === undefined) return;
    if (signal.is === 'expel') this.#notice(`Hub ${shown(member)} was expelled`);
    else this.#notice(`Hub ${shown(member)} has left`, 'info');
  }

  look(members: Members, nowMs: number): void {
    const suspected = suspects(members, nowMs);
    for (const member of suspected) {
      if (this.#suspected.has(member.incarnation)) continue;
      this.#suspected.add(member.incarnation);
      const silentMs = Math.round(nowMs - member.lastSeenMs);
      const why = member.isUnreachable ? ', and its connection is gone' : '';
      this.#notice(`Hub ${shown(member)} is suspected: it was silent for ${silentMs} ms${why}`);
    }
    this.#clearRecovered(members, suspected, nowMs);
    this.#sayReason(members, suspected, nowMs);
    this.#compareClocks(members);
  }

  /** Clears members that are no longer suspected. A lost connection ends suspicion, too, without a log line. */
  #clearRecovered({ all, suspectMs }: Members, suspected: readonly Member[], nowMs: number): void {
    const still = new Set(suspected.map(({ incarnation }) => incarnation));
    for (const incarnation of this.#suspected) {
      if (still.has(incarnation)) continue;
      this.#suspected.delete(incarnation);
      const member = all.get(incarnation);
      if (member && nowMs - member.lastSeenMs < suspectMs)
        this.#notice(`Hub ${shown(member)} sends heartbeats again`, 'info');
    }
  }

  #sayReason(members: Members, suspected: readonly Member[], nowMs: number): void {
    const accusing = accusation(members, nowMs);
    const isWaiting = suspected.some(({ standing }) => standing.at === 'member');
    if (!isWaiting || accusing === 'may') {
      this.#reason = undefined;
      return;
    }
    if (this.#reason?.accusing !== accusing) this.#reason = { accusing, sinceMs: nowMs, isReported: false };
    if (this.#reason.isReported || nowMs - this.#reason.sinceMs < REASON_MS) return;
    this.#reason = { ...this.#reason, isReported: true };
    const names = suspected.map(shown).join(', ');
    this.#notice(`Not expelling ${names} yet: ${REASONS[accusing]}`);
  }

  #compareClocks(members: Members): void {
    for (const { incarnation, aheadMs, isWarning } of clockDifferences(members)) {
      const member = members.all.get(incarnation);
      if (!isWarning || member === undefined) continue;
      const text = `The clock of hub ${shown(member)} is ${Math.round(Math.abs(aheadMs))} ms`;
      this.once(clockOf(incarnation), `${text} ${aheadMs > 0 ? 'ahead of' : 'behind'} this one's`);
    }
  }
}

const REASONS: Readonly<Record<Exclude<Accusing, 'may'>, string>> = {
  notMember: 'this hub is no member',
  down: 'this hub has no connection',
  reconnected: 'this hub has just got its connection back',
  minority: 'this hub receives heartbeats of no more than half of the members',
  notKept: 'this hub can append nothing',
};

function shown({ name, incarnation }: Member): string {
  return `"${name}" (${incarnation})`;
}

function clockOf(incarnation: string): string {
  return `clock ${incarnation}`;
}

function isFull({ bytes, bytesMax }: StreamState): boolean {
  return bytesMax !== undefined && bytes + SEAL_BYTES / 2 > bytesMax;
}

function withRoom({ name, subjects, replicas, storage, ageMaxMs, bytesMax = 0 }: StreamState) {
  const settings = { name, subjects, replicas, storage, bytesMax: bytesMax + SEAL_BYTES };
  return ageMaxMs === undefined ? settings : { ...settings, ageMaxMs };
}

/** Subject of reports to a hub. */
function appliedSubject(name: string, incarnation: string): string {
  return `${name}.applied.${incarnation}`;
}

function signalOf({ sequence, body }: AppliedRecord, atMs: number): Signal {
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

const WAIT = { operation: 'wait_for_configuration' } as const;
