import { HubError } from '../errors.ts';
import type { Borrowed } from '../model/borrowed.ts';
import { PARTITIONS } from '../shards/affinity.ts';
import { pingSubject } from './admission.ts';
import { packApplied, packBeat, unpackApplied, unpackBeat } from './beat.ts';
import type { Bus, StreamState, Subscription } from './bus.ts';
import type { AppliedRecord, ConfigLog } from './config_log.ts';
import { type ConfigState, isSettled, mapFields, partitionMap } from './config_state.ts';
import { sealJournal } from './hub_journal.ts';
import { journalPlaces, journalStreams } from './journal_places.ts';
import type { PartitionMap } from './map.ts';
import {
  type Accusing,
  accusation,
  appliedByAll,
  BEAT_MS,
  type Beat,
  clockDifferences,
  firstMember,
  look,
  type Member,
  type Members,
  nextLookMs,
  openMembers,
  restored,
  type Signal,
  type Step,
  suspects,
  told,
} from './members.ts';
import type { Notice } from './notice.ts';
import { mapWithoutSelf, type Uneven, type Upkeep, unevenSince, upkeep } from './upkeep.ts';

/**
 * This hub as a member of its cluster: tells the state machine of members.ts what happens, and does what it says.
 *
 *   what it hears                           is told as              what it does
 *   --------------------------------------  ----------------------  ---------------------------------------------------
 *   records of the configuration log        join, leave, expel, map
 *   `<name>.beat`, every 250 ms of each     beat                    beats as well, while it is a member
 *   `<name>.applied`, after each record     hasApplied              says what it has applied, once a millisecond at most
 *   `<name>.in.<incarnation>.ping`          beat and clock, or      asks each every 2 s, and who was silent for 500 ms;
 *                                           noResponders            answers with a beat
 *   the connection, and standing still      up, down
 *   a barrier of the own journal            kept                    when asked for an append
 *   seals of the journal of a suspect       sealed                  in both streams
 *   an `expel` appended                     overtaken               behind what is applied
 *
 * A process that has stood still for a second has heard nobody, and knows nothing of anybody: that is told as a connection
 * that was lost and is there again.
 *
 * Journals are sealed in streams that are there: a hub makes them before it joins. Where a seal does not get through for 2 s,
 * its streams are looked at. One that is missing, which only somebody else can have deleted, is made, as its owner would,
 * so that a seal is what comes first in it, whoever appends later. One that is full is given room for seals.
 *
 * A hub that leaves seals its own journal before it says so: what others take over has an end.
 */
export interface MembershipOptions {
  readonly bus: Bus;
  /** Of the cluster. */
  readonly name: string;
  readonly incarnation: string;
  /** Stays the same over restarts. */
  readonly hubName: string;
  /** Of the settings that must be equal. */
  readonly digest: string;
  /** The versions that it reads and writes. */
  readonly protocols: readonly number[];
  /** How many members may own partitions once all of them know of several; all of them when left out. */
  readonly ownersMax?: number;
  /** Silence after which a member is suspected; 2,000 when left out. */
  readonly suspectMs?: number;
  /** Makes the journal streams of an incarnation, as each hub does with its own before it joins. */
  makeJournal(incarnation: string): Promise<void>;
  /** How many locations this hub can take. */
  room(): number;
  /** Locations a second in each of its partitions. */
  loads(): ReadonlyMap<number, number>;
  /** Resolves when an append of the own journal was kept that began after this call. */
  barrier(): Promise<void>;
  /** Told of the map that holds when this hub has joined, and of each one later; the record is applied by then. */
  onMap(map: PartitionMap): void;
  /** Another hub has expelled this one. It does nothing any more. */
  out(): void;
  readonly notice: Notice;
  /** Time that has passed since some moment. */
  elapsed(): number;
  /** Time of day. */
  now(): number;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
}

export interface Leaving {
  readonly timeoutMs?: number;
  /** The own journal is sealed, and it is about to say so. */
  sealed?(): void;
}

/** What this hub knows of a member. */
export interface MemberStatus {
  readonly incarnation: string;
  readonly name: string;
  readonly isSelf: boolean;
  readonly isSuspect: boolean;
  /** 0 for this hub. */
  readonly silentMs: number;
  /** The configuration sequence that it has applied, as far as it has told. */
  readonly applied: number;
  /** How much its clock is ahead of this hub's; undefined where that is not known. */
  readonly aheadMs: number | undefined;
}

const SUSPECT_MS = 2000;
/** Who is silent for so long is asked. */
const PING_AFTER_MS = 500;
const PING_MS = 1000;
/** How often the clocks of all are compared, in beats. */
const CLOCK_BEATS = 8;
/** A process that has not looked for so long has stood still. */
const STILL_MS = 1000;
/** From saying what is applied to saying it again. */
const APPLIED_MS = 1;
/** Until it is looked why a journal cannot be sealed. */
const SEAL_MS = 2000;
/** What a full stream gets more. */
const SEAL_BYTES = 1 << 20;
/** A reason why nobody is accused is told when it has lasted for so long. */
const REASON_MS = 500;
const READY_MS = 12_000;
const LEAVE_MS = 10_000;
/** Requests that may wait until all have applied something. */
const WAITING_MAX = 10_000;

/** Begins to watch the connection. Tell of all records from now on, and join. */
export function openMembership(options: MembershipOptions): Membership {
  return new Membership(options);
}

/** What there is from joining to leaving. */
type Standing = 'opening' | 'joining' | 'member' | 'ended';

/** A request that waits until all have applied a record. */
interface Waiting {
  readonly sequence: number;
  end(error?: HubError): void;
}

export class Membership {
  readonly #options: MembershipOptions;
  #members: Members;
  #standing: Standing = 'opening';
  #log: Pick<ConfigLog, 'append'> | undefined;
  readonly #unwatch: () => void;
  #subscriptions: Subscription[] = [];
  #cancelTick: () => void = () => undefined;
  #cancelLook: () => void = () => undefined;
  #lookedAtMs = 0;
  readonly #waiting = new Set<Waiting>();
  /** Incarnations that are being asked. */
  readonly #asked = new Set<string>();
  readonly #notices: Notices;
  #isProving = false;
  #isKeeping = false;
  #uneven: Uneven | undefined;
  #isTelling = false;
  #beats = 0;

  /** Only for openMembership. */
  constructor(options: MembershipOptions) {
    const { incarnation, suspectMs = SUSPECT_MS, ownersMax = PARTITIONS, bus, elapsed, notice } = options;
    this.#options = options;
    this.#members = openMembers(incarnation, { suspectMs, ownersMax });
    this.#notices = new Notices(notice);
    this.#unwatch = bus.watch(({ at }) => this.#tell(at === 'up' ? { is: at, atMs: elapsed() } : { is: at }));
  }

  /** Begins with the members and the map of a snapshot, before any record. */
  restore(state: ConfigState): void {
    const { map, protocol } = state;
    const snapshot = { members: [...state.members.values()], map, protocol, isSettled: isSettled(state) };
    this.#members = restored(this.#members, snapshot, this.#options.elapsed());
  }

  /**
   * Takes each record of the configuration log, in its order, when everything else of it is applied. `state`: what it has
   * made of the configuration.
   */
  record(record: AppliedRecord, state: ConfigState): void {
    if (this.#standing === 'ended') return;
    const { map } = this.#members;
    const signal = signalOf(record, this.#options.elapsed());
    // What others have done before is nothing new.
    if (this.#standing !== 'opening') this.#notices.record(this.#members, signal);
    this.#tell({ is: 'state', protocol: state.protocol, isSettled: isSettled(state) }, signal);
    const isOwn = 'incarnation' in signal && signal.incarnation === this.#members.self;
    if (isOwn && signal.is === 'join') this.#begin();
    else if (isOwn) this.#leftBy(signal.is);
    if (this.#standing !== 'member') return;
    this.#sayApplied();
    if (this.#members.map !== map || (isOwn && map !== undefined)) this.#sayMap();
  }

  /**
   * Joins the cluster, once the log is open and the own journal streams are made. Resolves when the own `join` is applied;
   * rejects with HUB_UNAVAILABLE when it is not in time.
   */
  async join(log: Pick<ConfigLog, 'append'>): Promise<void> {
    const { incarnation, hubName, protocols, digest } = this.#options;
    if (this.#standing !== 'opening')
      throw unavailable(`Cannot join the cluster: this hub is ${this.#standing} already`);
    this.#standing = 'joining';
    this.#log = log;
    this.#listen();
    // Whoever asks a member must find it.
    await this.#within(READY_MS, 'join the cluster', Promise.all(this.#subscriptions.map(({ ready }) => ready)));
    await log.append({ kind: 'join', incarnation, name: hubName, protocols, digest });
  }

  /**
   * Leaves the cluster: seals the own journal, and says who owns what from now on. To be called when they append nothing any
   * more. Resolves when others have it; rejects with HUB_UNAVAILABLE when that cannot be done in time: others expel this hub
   * then, as any that is gone. Close it in either case.
   */
  async leave({ timeoutMs = LEAVE_MS, sealed = () => undefined }: Leaving = {}): Promise<void> {
    if (this.#standing !== 'member') return;
    let isLate = false;
    const left = this.#leave(() => isLate, sealed);
    try {
      await this.#within(timeoutMs, 'leave the cluster', left);
    } finally {
      isLate = true;
      left.catch(() => undefined);
    }
  }

  /** Ends it at once, without a word to others. */
  close(): void {
    this.#end('this hub is closed');
    this.#unwatch();
  }

  /**
   * Resolves when every member has applied a record of the configuration log, or is expelled. Rejects with HUB_UNAVAILABLE
   * when that is not known in time.
   */
  async appliedByAll(sequence: number, timeoutMs: number): Promise<void> {
    if (this.#standing !== 'member') {
      throw unavailable(`Cannot wait for configuration record ${sequence}: this hub is no member of the cluster`);
    }
    if (appliedByAll(this.#members) >= sequence) return;
    if (this.#waiting.size >= WAITING_MAX) {
      throw unavailable(`Cannot wait for configuration record ${sequence}: ${WAITING_MAX} requests wait already`);
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

  /** Whether this hub is a member. */
  get isMember(): boolean {
    return this.#standing === 'member';
  }

  /** Whether this hub is the member with the smallest index, who does what one has to do for all. */
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

  /** The incarnation of the owner of a partition; undefined while nobody owns it. */
  ownerOf(partition: number): string | undefined {
    return this.#members.map?.owners[partition] || undefined;
  }

  /** All members, in the order in which they have joined. */
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
        silentMs: isSelf ? 0 : nowMs - member.heardAtMs,
        applied: isSelf ? applied : member.applied,
      };
    });
  }

  #tell(...signals: readonly Signal[]): void {
    if (this.#standing === 'ended') return;
    this.#members = signals.reduce(told, this.#members);
    this.#answerWaiting();
    this.#look();
  }

  /** Does what is to be done now, and comes back when that may be something else. */
  #look(): void {
    if (this.#standing !== 'member') return;
    const nowMs = this.#options.elapsed();
    if (nowMs - this.#lookedAtMs > STILL_MS && this.#members.connection.at === 'up') {
      this.#members = told(told(this.#members, { is: 'down' }), { is: 'up', atMs: nowMs });
    }
    this.#lookedAtMs = nowMs;
    const { members, steps } = look(this.#members, nowMs);
    this.#members = members;
    for (const step of steps) this.#do(step);
    const due = this.#isKeeping ? undefined : upkeep(members, nowMs, this.#uneven);
    if (due !== undefined) void this.#keepUp(due);
    this.#notices.look(members, nowMs);
    this.#cancelLook();
    const nextMs = nextLookMs(members, nowMs);
    if (nextMs === Number.POSITIVE_INFINITY) return;
    this.#cancelLook = this.#options.schedule(nextMs - nowMs, () => this.#look());
  }

  #do(step: Step): void {
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

  /** An append is kept after it has begun, and a process may stand still before it hears of it: so the beginning counts. */
  async #prove(): Promise<void> {
    this.#isProving = true;
    const atMs = this.#options.elapsed();
    const isKept = await this.#options.barrier().then(
      () => true,
      // The journal says why.
      () => false,
    );
    this.#isProving = false;
    if (isKept) this.#tell({ is: 'kept', atMs });
  }

  async #seal({ incarnation }: Step & { readonly do: 'seal' }): Promise<void> {
    const isOff = (): boolean => this.#standing !== 'member' || !this.#members.all.has(incarnation);
    try {
      await this.#sealJournal({ incarnation, isOff });
      if (!isOff()) this.#tell({ is: 'sealed', incarnation });
    } catch (error) {
      this.#options.notice(`Cannot seal the journal of ${incarnation}: ${(error as Error).message}`);
      this.#tell({ is: 'failed', atMs: this.#options.elapsed(), incarnation });
    }
  }

  /** Resolves when the journal of an incarnation is sealed, or when that is off. */
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
    const places = journalPlaces(name, incarnation);
    try {
      await sealJournal({ bus, places, schedule, by: hubName, isOff });
    } finally {
      isDone = true;
      cancel();
    }
  }

  /** Sees to it that the streams of an incarnation take seals. */
  async #mendJournal(incarnation: string): Promise<void> {
    const { bus, name, makeJournal, notice } = this.#options;
    const wanted = journalStreams(name, incarnation);
    try {
      const found = await bus.streams(`${name}_J_${incarnation}_`);
      const missing = wanted.filter((stream) => !found.some((state) => state.name === stream.name));
      if (missing.length > 0) {
        notice(`Making ${missing.map((stream) => stream.name).join(', ')} again, to seal what comes there`);
        await makeJournal(incarnation);
      }
      for (const state of found) if (isFull(state)) await bus.alterStream(withRoom(state));
    } catch (error) {
      notice(`Cannot mend the journal of ${incarnation}: ${(error as Error).message}`);
    }
  }

  async #expel({ incarnation, expects, map }: Step & { readonly do: 'expel' }): Promise<void> {
    try {
      const appended = await this.#log?.append({ kind: 'expel', incarnation, ...mapFields(map) }, expects);
      if (appended?.at === 'overtaken') this.#tell({ is: 'overtaken', incarnation });
    } catch (error) {
      this.#options.notice(`Cannot expel ${incarnation}: ${(error as Error).message}`);
      this.#tell({ is: 'failed', atMs: this.#options.elapsed(), incarnation });
    }
  }

  async #keepUp(due: Upkeep): Promise<void> {
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
      // The next beat looks again.
      this.#isKeeping = false;
      const what = due.is === 'map' ? 'who owns what' : `that everybody speaks version ${due.version}`;
      this.#options.notice(`Cannot say ${what}: ${(error as Error).message}`);
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
        const beat = this.#readable(() => unpackBeat(bytes));
        if (beat !== undefined) this.#tell({ is: 'beat', atMs: elapsed(), beat });
      }),
      bus.subscribe(`${name}.applied`, ({ bytes }) => {
        const applied = this.#readable(() => unpackApplied(bytes));
        if (applied !== undefined) this.#tell({ is: 'hasApplied', ...applied });
      }),
      bus.subscribe(pingSubject(name, incarnation), ({ reply }) => {
        if (reply !== '') bus.publish(reply, packBeat(this.#beat()));
      }),
    ];
  }

  #readable<Value>(read: () => Value): Value | undefined {
    try {
      return read();
    } catch (error) {
      this.#notices.once('unreadable', (error as Error).message);
      return undefined;
    }
  }

  /** The own join is applied. */
  #begin(): void {
    if (this.#standing !== 'joining') return;
    this.#standing = 'member';
    this.#lookedAtMs = this.#options.elapsed();
    this.#tick();
  }

  #tick(): void {
    if (this.#standing !== 'member') return;
    const { bus, name, schedule, elapsed } = this.#options;
    this.#cancelTick = schedule(BEAT_MS, () => this.#tick());
    const beat = this.#beat();
    bus.publish(`${name}.beat`, packBeat(beat));
    this.#members = told(this.#members, { is: 'measured', loads: beat.loads });
    this.#uneven = unevenSince(this.#members, elapsed(), this.#uneven);
    this.#look();
    this.#askMembers(this.#beats++ % CLOCK_BEATS === 0);
  }

  #beat(): Beat {
    const { incarnation, now, room, loads } = this.#options;
    return { incarnation, applied: this.#members.applied, clockMs: now(), room: room(), loads: loads() };
  }

  /** Asks those that are silent; all of them where their clocks are to be compared. */
  #askMembers(areAllDue: boolean): void {
    const { self, all, connection } = this.#members;
    if (connection.at === 'down') return;
    const untilMs = this.#options.elapsed() - PING_AFTER_MS;
    for (const { incarnation, heardAtMs } of all.values()) {
      const isDue = areAllDue || Math.max(heardAtMs, connection.sinceMs) < untilMs;
      if (incarnation !== self && isDue && !this.#asked.has(incarnation)) void this.#ask(incarnation);
    }
  }

  async #ask(incarnation: string): Promise<void> {
    const { bus, name, elapsed, now } = this.#options;
    const [atMs, askedMs] = [elapsed(), now()];
    this.#asked.add(incarnation);
    try {
      const asking = { timeoutMs: PING_MS, read: (bytes: Borrowed) => unpackBeat(bytes) };
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

  /** At once, and what is applied meanwhile a millisecond later. A beat says it as well, where this is lost. */
  #sayApplied(): void {
    if (this.#isTelling || this.#members.all.size < 2) return;
    this.#isTelling = true;
    // When the record is applied as a whole.
    queueMicrotask(() => {
      const { bus, name, schedule } = this.#options;
      const { self: incarnation, applied: sequence } = this.#members;
      if (this.#standing === 'member') bus.publish(`${name}.applied`, packApplied({ incarnation, sequence }));
      schedule(APPLIED_MS, () => {
        this.#isTelling = false;
        if (this.#members.applied > sequence && this.#standing === 'member') this.#sayApplied();
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
    return unavailable(
      `Cannot wait for configuration record ${sequence} any longer: after ${timeoutMs} ms the last is ${late.join(', ')}`,
    );
  }

  /** This hub has left, or was expelled. */
  #leftBy(record: Signal['is']): void {
    const isOut = record === 'expel' && this.#standing === 'member';
    this.#end(isOut ? 'this hub was expelled' : 'this hub has left the cluster');
    if (isOut) queueMicrotask(() => this.#options.out());
  }

  #end(why: string): void {
    if (this.#standing === 'ended') return;
    this.#standing = 'ended';
    this.#cancelTick();
    this.#cancelLook();
    for (const subscription of this.#subscriptions) subscription.end();
    for (const { end } of this.#waiting) end(unavailable(`Cannot wait for the configuration: ${why}`));
  }

  /** What comes of it in time; rejects with HUB_UNAVAILABLE otherwise. */
  #within<Value>(ms: number, what: string, coming: Promise<Value>): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    const cancel = this.#options.schedule(ms, () => reject(unavailable(`Cannot ${what}: not done in ${ms} ms`)));
    coming.then(resolve, reject).finally(cancel);
    return promise;
  }
}

interface Sealed {
  readonly incarnation: string;
  isOff(): boolean;
}

/** What the log of a hub says of members: each thing when it begins, and when it is over. */
class Notices {
  readonly #notice: Notice;
  readonly #once = new Set<string>();
  readonly #suspected = new Set<string>();
  #reason: { readonly accusing: Accusing; readonly sinceMs: number; readonly isTold: boolean } | undefined;

  constructor(notice: Notice) {
    this.#notice = notice;
  }

  once(what: string, text: string): void {
    if (this.#once.has(what)) return;
    this.#once.add(what);
    this.#notice(text);
  }

  /** Before it is told. */
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
      const silentMs = Math.round(nowMs - member.heardAtMs);
      const why = member.isUnreachable ? ', and its connection is gone' : '';
      this.#notice(`Hub ${shown(member)} is suspected: it was silent for ${silentMs} ms${why}`);
    }
    this.#forgetHeard(members, suspected, nowMs);
    this.#sayReason(members, suspected, nowMs);
    this.#compareClocks(members);
  }

  /** A lost connection ends suspicion, too, and there is nothing to say of that. */
  #forgetHeard({ all, suspectMs }: Members, suspected: readonly Member[], nowMs: number): void {
    const still = new Set(suspected.map(({ incarnation }) => incarnation));
    for (const incarnation of this.#suspected) {
      if (still.has(incarnation)) continue;
      this.#suspected.delete(incarnation);
      const member = all.get(incarnation);
      if (member && nowMs - member.heardAtMs < suspectMs) this.#notice(`Hub ${shown(member)} is heard again`, 'info');
    }
  }

  #sayReason(members: Members, suspected: readonly Member[], nowMs: number): void {
    const accusing = accusation(members, nowMs);
    const isWaiting = suspected.some(({ standing }) => standing.at === 'member');
    if (!isWaiting || accusing === 'may') {
      this.#reason = undefined;
      return;
    }
    if (this.#reason?.accusing !== accusing) this.#reason = { accusing, sinceMs: nowMs, isTold: false };
    if (this.#reason.isTold || nowMs - this.#reason.sinceMs < REASON_MS) return;
    this.#reason = { ...this.#reason, isTold: true };
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
  minority: 'this hub hears no more than half of the members',
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

function unavailable(message: string): HubError {
  return new HubError('HUB_UNAVAILABLE', message);
}
