import {
  type BusAnswer,
  type Append,
  type Appended,
  type RequestOptions,
  type Bus,
  BusBusyError,
  BusError,
  type BusStatus,
  BusWatchers,
  type Message,
  type Replacement,
  type Selection,
  type StoredMessage,
  type StreamReader,
  type StreamSettings,
  type StreamState,
  type Subscription,
} from '../../src/cluster/nats/bus.ts';
import { checkBatch, checkMessage, checkSubject, checkSubjects } from '../../src/cluster/nats/message_checks.ts';
import { lend } from '../../src/model/borrowed.ts';
import { type Member, SimulatedNetwork } from './simulated_network.ts';
import { type Entry, fits, type SimulatedStream } from './simulated_stream.ts';

const API_MS = 5000;
const READ_MS = 10_000;
const RETRY_MS = 50;
const BATCH_MESSAGES = 5;

interface Listening {
  readonly subject: string;
  readonly take: (message: Message) => void;
  isReached: boolean;
  readonly ready: () => void;
}

/** A pending call. */
interface Waiting {
  /** Sends it. */
  attempt(): void;
  /** Whether it is in flight: sent, and not waiting to be sent again. */
  isSent: boolean;
  /** Ends it without an answer. */
  end(): void;
}

/** Handler of a call's answer. */
interface Asker<Value> {
  /** Ends the call with its answer, unless it has ended already. */
  resolve(value: Value): void;
  reject(error: unknown): void;
  /** Whether the call is still waiting. */
  isOpen(): boolean;
  /** Sends the call again a moment later. */
  retry(): void;
}

interface Following {
  readonly stream: string;
  readonly subjects: readonly string[];
  readonly take: (message: Message) => void;
  readonly ready: () => void;
  next: number;
  isComing: boolean;
}

/** Members, servers and a network on simulated time, and a bus for each member. */
export class SimulatedCluster extends SimulatedNetwork {
  /** The bus of a member. A member that has one already is killed first. */
  bus(name: string): Bus {
    return this.enter(name, (member) => new SimulatedBus(this, member));
  }
}

/** The bus of one member of a simulated cluster. */
class SimulatedBus implements Bus {
  readonly #network: SimulatedNetwork;
  readonly #member: Member;
  readonly #watchers = new BusWatchers();
  readonly #listening = new Set<Listening>();
  readonly #following = new Set<Following>();
  /** Waiting requests, by the subjects of their answers. */
  readonly #asked = new Map<string, (bytes: Uint8Array | undefined) => void>();
  readonly #open = new Set<Waiting>();
  #isEnded = false;

  constructor(network: SimulatedNetwork, member: Member) {
    this.#network = network;
    this.#member = member;
  }

  get isUp(): boolean {
    return this.#watchers.isUp;
  }

  watch(watcher: (status: BusStatus) => void): () => void {
    return this.#watchers.add(watcher);
  }

  publish(subject: string, bytes: Uint8Array): boolean {
    checkMessage(subject, bytes);
    if (!this.isUp) return false;
    const sent = new Uint8Array(bytes);
    this.#network.send(this.#member, () => this.#spread(subject, sent, ''));
    return true;
  }

  async request<Value>(
    subject: string,
    bytes: Uint8Array,
    { timeoutMs, read }: RequestOptions<Value>,
  ): Promise<BusAnswer<Value>> {
    checkMessage(subject, bytes);
    const sent = new Uint8Array(bytes);
    const inbox = this.#network.newName();
    return this.#within<BusAnswer<Value>>({ timeoutMs, late: { at: 'unanswered' } }, ({ resolve, reject }) => {
      this.#asked.set(inbox, (answer) => {
        this.#asked.delete(inbox);
        try {
          resolve(answer === undefined ? { at: 'noResponders' } : { at: 'answered', value: read(lend(answer)) });
        } catch (error) {
          reject(error);
        }
      });
      if (this.#spread(subject, sent, inbox)) return;
      this.#network.deliver('servers', this.#member, () => this.#asked.get(inbox)?.(undefined));
    });
  }

  subscribe(subject: string, take: (message: Message) => void): Subscription {
    checkSubject(subject);
    const { promise, resolve } = Promise.withResolvers<void>();
    const listening: Listening = { subject, take, isReached: false, ready: resolve };
    this.#listening.add(listening);
    this.#hear(listening);
    const end = (): void => {
      this.#listening.delete(listening);
      resolve();
    };
    return { ready: promise, end };
  }

  async makeStream(settings: StreamSettings): Promise<void> {
    await this.#api(`make stream "${settings.name}"`, (resolve, reject) => {
      const there = this.#network.streams.get(settings.name)?.stream.settings;
      const others = [...this.#network.streams.values()].map(({ stream }) => stream.settings);
      const isTaken = others.some(
        ({ name, subjects }) => name !== settings.name && overlap(subjects, settings.subjects),
      );
      if (isTaken) return reject('subjects overlap with an existing stream');
      if (there === undefined) this.#network.addStream(settings);
      if (there === undefined || JSON.stringify(there) === JSON.stringify(settings)) resolve(undefined);
      else reject('stream name already in use');
    });
  }

  async alterStream(settings: StreamSettings): Promise<void> {
    await this.#ofStream(settings.name, `alter stream "${settings.name}"`, (stream) => {
      stream.settings = settings;
    });
  }

  async deleteStream(name: string): Promise<boolean> {
    return this.#api<boolean>(`delete stream "${name}"`, (resolve) => resolve(this.#network.streams.delete(name)));
  }

  async streams(prefix: string, subject?: string): Promise<readonly StreamState[]> {
    return this.#api(`list streams "${prefix}"`, (resolve) => {
      const states = [...this.#network.streams.values()].map(({ stream }) => stream.state);
      const isListed = ({ name, subjects }: StreamState): boolean =>
        name.startsWith(prefix) && (subject === undefined || subjects.includes(subject));
      resolve(states.filter(isListed));
    });
  }

  async append({ subject, bytes, ...append }: Append): Promise<Appended> {
    checkMessage(subject, bytes);
    if (this.#network.mishap('busy'))
      throw new BusBusyError(`Cannot append to "${subject}": too much waits to be sent`);
    return this.#add({ ...append, subject, messages: [bytes], replaces: false });
  }

  async replace({ subject, messages, ...replacement }: Replacement): Promise<Appended> {
    checkBatch(subject, messages);
    return this.#add({ ...replacement, subject, messages, replaces: true });
  }

  async last(stream: string, subject: string): Promise<StoredMessage | undefined> {
    const what = `read the last message of "${subject}"`;
    if (this.#network.mishap('unread')) return this.#api(what, () => undefined);
    return this.#ofStream(stream, what, (found) => found.last([subject]));
  }

  async message(stream: string, sequence: number): Promise<StoredMessage | undefined> {
    return this.#ofStream(stream, `read message ${sequence} of stream "${stream}"`, (found) => {
      const message = found.first(['>'], sequence);
      return message?.sequence === sequence ? message : undefined;
    });
  }

  read(stream: string, { subjects, fromSequence }: Selection): StreamReader {
    checkSubjects(subjects);
    let next = fromSequence;
    let end: number | undefined;
    return {
      next: async (take) => {
        const count = 1 + this.#network.dice(BATCH_MESSAGES);
        const what = `read stream "${stream}"`;
        const batch = await this.#ofStream(
          stream,
          what,
          (found) => batchOf(found, { subjects, next, end, count }),
          READ_MS,
        );
        end = batch.end;
        for (const message of batch.messages) {
          next = message.sequence + 1;
          this.#hand(take, { ...message, reply: '' });
        }
        return batch.messages.length > 0 && next <= end;
      },
      end: () => {
        end = 0;
      },
    };
  }

  follow(stream: string, { subjects, fromSequence }: Selection, take: (message: Message) => void): Subscription {
    checkSubjects(subjects);
    const { promise, resolve } = Promise.withResolvers<void>();
    const following: Following = { stream, subjects, take, ready: resolve, next: fromSequence, isComing: false };
    this.#following.add(following);
    this.#pump(following);
    const end = (): void => {
      this.#following.delete(following);
      resolve();
    };
    return { ready: promise, end };
  }

  async purge(stream: string, subject: string, beforeSequence?: number): Promise<void> {
    await this.#ofStream(stream, `purge "${subject}"`, (found) => found.purge(subject, beforeSequence));
  }

  async close(): Promise<void> {
    this.#network.kill(this.#member.name);
  }

  /** The connection is up. */
  up(): void {
    this.#watchers.tell({ at: 'up' });
    for (const listening of this.#listening) this.#hear(listening);
    for (const following of this.#following) this.#pump(following);
    for (const waiting of this.#open) if (!waiting.isSent) this.#attempt(waiting);
  }

  /** The connection is lost, and with it the answers to everything sent. */
  down(why: string): void {
    for (const listening of this.#listening) listening.isReached = false;
    this.#watchers.tell({ at: 'down', why });
    for (const waiting of [...this.#open]) if (waiting.isSent) waiting.end();
  }

  /** The member is removed. */
  ended(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#watchers.tell({ at: 'down', why: 'the bus is closed' });
    for (const waiting of [...this.#open]) waiting.end();
    for (const { ready } of [...this.#listening, ...this.#following]) ready();
    this.#listening.clear();
    this.#following.clear();
  }

  /** A message was stored in a stream. */
  committed(stream: string): void {
    for (const following of this.#following) if (following.stream === stream) this.#pump(following);
  }

  /** Sends a message to all subscribers. Returns whether there are any. */
  #spread(subject: string, bytes: Uint8Array, reply: string): boolean {
    let isReached = false;
    for (const other of this.#network.members) {
      const { bus } = other;
      if (!(bus instanceof SimulatedBus) || other === this.#member || !this.#network.isBetween(this.#member, other))
        continue;
      const asked = bus.#asked.has(subject);
      const reached = [...bus.#listening].filter((each) => each.isReached && fits([each.subject], subject));
      isReached ||= reached.length > 0;
      if ((!asked && reached.length === 0) || this.#network.dice(1000) < this.#network.mishaps.dropped) continue;
      this.#network.deliver(this.#member.name, other, () => {
        bus.#asked.get(subject)?.(bytes);
        for (const listening of reached) {
          if (bus.#listening.has(listening)) this.#hand(listening.take, { subject, bytes, reply, sequence: 0 });
        }
      });
    }
    return isReached;
  }

  /** Lends a message: its bytes are overwritten as soon as `take` returns. */
  #hand(take: (message: Message) => void, message: StoredMessage & { readonly reply: string }): void {
    const bytes = new Uint8Array(message.bytes);
    take({ ...message, bytes: lend(bytes) });
    bytes.fill(0xdd);
  }

  #hear(listening: Listening): void {
    // On a lasting connection it would not be sent again.
    this.#network.sendAndKeep(this.#member, () => {
      listening.isReached = true;
      this.#network.deliver('servers', this.#member, listening.ready);
    });
  }

  #add({ stream: name, timeoutMs, ...entry }: Entry & { stream: string; timeoutMs: number }): Promise<Appended> {
    return this.#within<Appended>({ timeoutMs, late: { at: 'unknown' } }, ({ resolve, isOpen, retry }) => {
      const led = this.#network.streams.get(name);
      const access = led === undefined ? 'elects' : this.#network.access(this.#member, led);
      if (access === 'elects') retry();
      // The caller may reuse shared memory as soon as there is a result, so it is copied before.
      if (led === undefined || access !== 'reached' || !isOpen()) return;
      const messages = entry.messages.map((bytes) => new Uint8Array(bytes));
      this.#network.commit(led, () => {
        const appended = led.stream.append({ ...entry, messages });
        for (const { bus } of this.#network.members) bus?.committed(name);
        if (this.#network.dice(1000) < this.#network.mishaps.unanswered) return;
        this.#network.deliver('servers', this.#member, () => resolve(appended));
      });
    });
  }

  #pump(following: Following): void {
    if (following.isComing) return;
    following.isComing = true;
    this.#network.deliver(`stream ${following.stream}`, this.#member, () => this.#come(following));
    // Tried again in case it cannot be delivered.
    this.#network.schedule(this.#member.name, RETRY_MS, () => this.#following.has(following) && this.#again(following));
  }

  #again(following: Following): void {
    if (!following.isComing) return;
    following.isComing = false;
    this.#pump(following);
  }

  #come(following: Following): void {
    const led = this.#network.streams.get(following.stream);
    if (!this.#following.has(following) || led === undefined) return;
    if (this.#network.access(this.#member, led) !== 'reached') return;
    following.isComing = false;
    following.ready();
    const message = led.stream.first(following.subjects, following.next);
    if (message === undefined) return;
    following.next = message.sequence + 1;
    this.#pump(following);
    this.#hand(following.take, { ...message, reply: '' });
  }

  /** Sends a request to the leader of a stream. */
  #ofStream<Value>(
    name: string,
    what: string,
    ask: (stream: SimulatedStream) => Value,
    timeoutMs = API_MS,
  ): Promise<Value> {
    const atLeader = (resolve: (value: Value) => void, reject: (why: string) => void, retry: () => void): void => {
      const led = this.#network.streams.get(name);
      if (led === undefined) reject('stream not found');
      else if (this.#network.access(this.#member, led) === 'reached') resolve(ask(led.stream));
      else retry();
    };
    return this.#api<Value>(what, atLeader, timeoutMs);
  }

  async #api<Value>(
    what: string,
    ask: (resolve: (value: Value) => void, reject: (why: string) => void, retry: () => void) => void,
    timeoutMs = API_MS,
  ): Promise<Value> {
    const late = `no server answered within ${timeoutMs} ms`;
    const found = await this.#within<{ value: Value } | string>({ timeoutMs, late }, ({ resolve, retry }) => {
      const answer = (found: { value: Value } | string): void =>
        this.#network.deliver('servers', this.#member, () => resolve(found));
      ask((value) => answer({ value }), answer, retry);
    });
    if (typeof found === 'string') throw new BusError(`Cannot ${what}: ${found}`);
    return found.value;
  }

  /** Makes a call as soon as there is a connection. Resolves with its answer, or with `late` if none arrives in time. */
  #within<Value>(
    { timeoutMs, late }: { timeoutMs: number; late: Value },
    arrive: (asker: Asker<Value>) => void,
  ): Promise<Value> {
    if (this.#isEnded) return Promise.reject(new BusError('The bus is closed'));
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    const finish = (end: () => void): void => {
      if (!this.#open.delete(waiting)) return;
      cancel();
      end();
    };
    const asker: Asker<Value> = {
      resolve: (value) => finish(() => resolve(value)),
      reject: (error) => finish(() => reject(error)),
      isOpen: () => this.#open.has(waiting),
      retry: () => {
        waiting.isSent = false;
        this.#network.schedule(this.#member.name, RETRY_MS, () => this.isUp && this.#attempt(waiting));
      },
    };
    const waiting: Waiting = {
      isSent: false,
      attempt: () => this.#network.send(this.#member, () => arrive(asker)),
      end: () => finish(() => resolve(late)),
    };
    const cancel = this.#network.schedule(this.#member.name, timeoutMs, waiting.end);
    this.#open.add(waiting);
    if (this.isUp) this.#attempt(waiting);
    return promise;
  }

  #attempt(waiting: Waiting): void {
    if (waiting.isSent || !this.#open.has(waiting)) return;
    waiting.isSent = true;
    waiting.attempt();
  }
}

/** Some messages, and the end of the stream at the first request. */
function batchOf(
  stream: SimulatedStream,
  { subjects, next, end, count }: { subjects: readonly string[]; next: number; end: number | undefined; count: number },
): { messages: StoredMessage[]; end: number } {
  const last = end ?? stream.last(subjects)?.sequence ?? 0;
  const messages: StoredMessage[] = [];
  for (let from = next; messages.length < count; from = (messages.at(-1)?.sequence ?? 0) + 1) {
    const message = stream.first(subjects, from);
    if (message === undefined || message.sequence > last) break;
    messages.push(message);
  }
  return { messages, end: last };
}

/** Whether a message may match both. Only if one of two patterns matches the other as a string. */
function overlap(some: readonly string[], others: readonly string[]): boolean {
  return some.some((one) => others.some((other) => fits([one], other) || fits([other], one)));
}
