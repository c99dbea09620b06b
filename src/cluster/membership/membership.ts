import { hubError } from '../../errors.ts';
import type { ClusterContext } from '../context.ts';
import { APPLIED } from '../messages/messages.ts';
import { ProtocolErrors } from '../messages/protocol_errors.ts';
import type { Subscription } from '../nats/bus.ts';
import type { AppliedRecord, ConfigLog } from '../config/config_log.ts';
import { type ConfigState, isSettled, mapFields } from '../config/config_state.ts';
import {
  coordinatorRecord,
  type CoordinatorRecord,
  type Imbalance,
  imbalancedSince,
  mapWithoutSelf,
} from './coordinator.ts';
import type { PartitionMap } from './partition_map.ts';
import { firstMember, type MemberStatus, statusOfAll } from './member_views.ts';
import { advance, HEARTBEAT_MS, type Members, openMembers, restored, type Signal, signalOf } from './members.ts';
import { type Accusing, accusation, look, type MembershipStep, nextLookMs } from './suspicion.ts';
import { AppliedReports, appliedSubject } from './applied_reports.ts';
import { Heartbeats, type HeartbeatsOptions } from './heartbeats.ts';
import { type JournalSealerOptions, sealMember } from './journal_sealer.ts';
import { MemberNotices } from './member_notices.ts';

/**
 * Membership of this hub in its cluster: feeds the state machine of members.ts with signals, and executes its steps.
 *
 *   input                                   signal                  action
 *   --------------------------------------  ----------------------  ---------------------------------------------------
 *   records of the configuration log        join, leave, expel, map
 *   `<name>.beat`, every 250 ms of each     beat                    sends heartbeats as well, while it is a reporter
 *   reporter
 *   `<name>.beat.<incarnation>`, every      beat                    sends them to the reporters, while it is another member
 *   250 ms of each other member
 *   `<name>.applied.<incarnation>`          hasApplied              reports its last record, once a ms at most, to the
 *                                                                   hubs that have appended changes, since they wait
 *   `<name>.in.<incarnation>.ping`          beat and clock, or      queries each every 2 s, silent ones after 750 ms, and
 *                                           noResponders,           previous processes of restarted hubs every 250 ms;
 *                                           unanswered              answers with a heartbeat
 *   the connection, and standstills         up, down
 *   a barrier of its own journal            committed               when the state machine wants an append
 *   seals of the journal of a suspect       sealed                  in both streams
 *   an `expel` appended                     overtaken               after the applied records
 *
 * A process that was stopped for a second has received nothing, and must not judge others: this is signaled as a connection
 * that was lost and is back.
 *
 * A hub that leaves finishes and seals its own journal first, so that its successors read a complete journal.
 */
export interface ClusterMembershipOptions extends JournalSealerOptions, HeartbeatsOptions, ClusterContext {
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
  /** Resolves when an append to its own journal was stored that began after this call. */
  barrier(): Promise<void>;
  /** Reports the map at the join of this hub, and each later one, after the record is applied. */
  onMap(map: PartitionMap): void;
  /** Another hub has expelled this one. It does nothing any more. */
  out(): void;
}

export interface Leaving {
  readonly timeoutMs?: number;
  /** Resolves when its journal takes nothing any more, and all that it has taken is stored. */
  finish?(): Promise<void>;
  /** Its journal is sealed, and the `leave` record comes next. */
  sealed?(): unknown;
}

const SUSPECT_MS = 2000;
/** Time without a look after which the process counts as stopped. */
const STILL_MS = 1000;
const READY_MS = 12_000;
const LEAVE_MS = 10_000;

/** Life cycle from joining to leaving. */
type JoinState = 'opening' | 'joining' | 'member' | 'ended';

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
  readonly #reports: AppliedReports;
  readonly #heartbeats: Heartbeats;
  readonly #notices: MemberNotices;
  /** Messages that were malformed or of another version. */
  readonly malformed: ProtocolErrors;
  #isProving = false;
  #isKeeping = false;
  #imbalance: Imbalance | undefined;

  /** Starts to watch the connection. Pass all records from now on, and call `join`. */
  constructor(options: ClusterMembershipOptions) {
    const { incarnation, suspectMs = SUSPECT_MS, bus, elapsed, notice } = options;
    this.#options = options;
    this.#members = openMembers(incarnation, { ...options, suspectMs });
    this.#notices = new MemberNotices(notice);
    this.malformed = new ProtocolErrors('members', notice);
    this.#heartbeats = new Heartbeats(options, {
      members: () => this.#members,
      malformed: this.malformed,
      tell: (...signals) => this.#tell(...signals),
      failed: (text) => this.#notices.once('ping', text),
    });
    this.#reports = new AppliedReports(options, {
      members: () => this.#members,
      isMember: () => this.#standing === 'member',
    });
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
    this.#reports.applied(record);
    const { map: next } = this.#members;
    if (next === undefined || (next === map && !isOwn)) return;
    queueMicrotask(() => this.#standing === 'member' && this.#options.onMap(next));
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
   * Leaves the cluster: finishes and seals its own journal, and assigns its partitions to others. Resolves when others have it;
   * rejects with HUB_UNAVAILABLE if that takes too long: others then expel this hub as a failed one. Call `close` in either
   * case.
   */
  async leave({ timeoutMs = LEAVE_MS, ...leaving }: Leaving = {}): Promise<void> {
    if (this.#standing !== 'member') return;
    let isLate = false;
    const left = this.#leave(() => isLate, leaving);
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
  appliedByAll(sequence: number, timeoutMs: number): Promise<void> {
    return this.#reports.byAll(sequence, timeoutMs);
  }

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

  /** All members, in the order of their joins. */
  get members(): readonly MemberStatus[] {
    return statusOfAll(this.#members, this.#options.elapsed());
  }

  #tell(...signals: readonly Signal[]): void {
    if (this.#standing === 'ended') return;
    this.#members = signals.reduce(advance, this.#members);
    this.#reports.answer();
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
    // The journal reports the error.
    const failure = await this.#options.barrier().catch(String);
    this.#isProving = false;
    if (failure === undefined) this.#tell({ is: 'committed', atMs });
  }

  async #seal({ incarnation }: MembershipStep & { readonly do: 'seal' }): Promise<void> {
    const isOff = (): boolean => this.#standing !== 'member' || !this.#members.all.has(incarnation);
    try {
      await sealMember(this.#options, { incarnation, isOff });
      if (!isOff()) this.#tell({ is: 'sealed', incarnation });
    } catch (error) {
      this.#options.notice(`Cannot seal the journal of ${incarnation}: ${(error as Error).message}`);
      this.#tell({ is: 'failed', atMs: this.#options.elapsed(), incarnation });
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

  async #leave(isLate: () => boolean, { finish, sealed }: Leaving): Promise<void> {
    const { incarnation } = this.#options;
    const isOff = (): boolean => isLate() || this.#standing !== 'member';
    await finish?.();
    await sealMember(this.#options, { incarnation, isOff });
    if (!isOff()) sealed?.();
    while (!isOff()) {
      const map = mapWithoutSelf(this.#members, this.#options.elapsed());
      await this.#log?.append({ kind: 'leave', incarnation, ...mapFields(map) }, this.#members.applied);
    }
  }

  #listen(): void {
    const { bus, name, incarnation } = this.#options;
    this.#subscriptions = [
      ...this.#heartbeats.listen(),
      bus.subscribe(appliedSubject(name, incarnation), ({ bytes }) => {
        const applied = this.malformed.reading(() => APPLIED.read(bytes));
        if (applied !== undefined) this.#tell({ is: 'hasApplied', ...applied });
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
    const { schedule, elapsed } = this.#options;
    this.#cancelTick = schedule(HEARTBEAT_MS, () => this.#tick());
    const { loads } = this.#heartbeats.send();
    this.#members = advance(this.#members, { is: 'measured', loads });
    this.#imbalance = imbalancedSince(this.#members, elapsed(), this.#imbalance);
    this.#look();
    this.#heartbeats.ping();
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
    this.#reports.end();
  }

  /** Result of the promise in time; rejects with HUB_UNAVAILABLE otherwise. */
  #within<Value>(ms: number, operation: 'join_cluster' | 'leave_cluster', coming: Promise<Value>): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    const cancel = this.#options.schedule(ms, () => reject(hubError('not_done_in_time', { operation, limit: ms })));
    coming.then(resolve, reject).finally(cancel);
    return promise;
  }
}
