import assert from 'node:assert/strict';
import { WebSocket } from 'ws';

/** A frame sent by the hub. */
export interface Frame {
  readonly event: string;
  readonly topic?: string;
  readonly subscription_id?: number;
  readonly payload?: readonly unknown[];
  readonly code?: number;
  readonly description?: string;
}

/** An event as returned by `JSON.parse`. Tests check its members. */
export type Event = ReturnType<typeof JSON.parse>;

/** Reached only by tests that fail. */
const WAIT_MS = 15_000;

interface Waiter<T> {
  readonly wanted: (element: T) => boolean;
  readonly resolve: (element: T) => void;
}

/** Received items in order, and the conditions that tests wait for. */
class Arrivals<T> {
  readonly all: T[] = [];
  #waiters: Waiter<T>[] = [];
  #taken = 0;

  push(element: T): void {
    this.all.push(element);
    const waiters = this.#waiters;
    this.#waiters = waiters.filter(({ wanted }) => !wanted(element));
    for (const waiter of waiters) if (!this.#waiters.includes(waiter)) waiter.resolve(element);
  }

  /** Returns the first item that matches, waiting for it if necessary. */
  find(wanted: (element: T) => boolean, what: string, timeoutMs = WAIT_MS): Promise<T> {
    const found = this.all.find(wanted);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const last = JSON.stringify(this.all.slice(-3)).slice(0, 600);
        reject(new Error(`No ${what} within ${timeoutMs} ms; ${this.all.length} came, the last are ${last}`));
      }, timeoutMs);
      this.#waiters.push({
        wanted,
        resolve(element) {
          clearTimeout(timer);
          resolve(element);
        },
      });
    });
  }

  get takenCount(): number {
    return this.#taken;
  }

  /** Returns the items that arrived since the previous take. */
  take(): T[] {
    const taken = this.all.slice(this.#taken);
    this.#taken = this.all.length;
    return taken;
  }
}

interface SocketHeaders {
  readonly userAgent?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A WebSocket connection to a hub that stores every received frame. */
export class SocketClient {
  readonly socket: WebSocket;
  /** Lengths of the frames in bytes, in order. */
  readonly frameBytes: number[] = [];
  readonly #frames = new Arrivals<Frame>();
  readonly #recorders: Recorder[] = [];
  #barriers = 1_000_000;
  #closed: { readonly code: number; readonly reason: string } | undefined;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (bytes: Buffer) => this.#take(bytes));
    socket.on('close', (code, reason) => {
      this.#closed = { code, reason: reason.toString() };
    });
  }

  /** Connects. `userAgent` identifies the client. */
  static open(url: string, options: SocketHeaders = {}): Promise<SocketClient> {
    const headers = { ...options.headers, ...(options.userAgent && { 'User-Agent': options.userAgent }) };
    const socket = new WebSocket(url, { headers, perMessageDeflate: false });
    const client = new SocketClient(socket);
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve(client));
      socket.once('error', reject);
    });
  }

  /** All frames so far, in order of arrival. */
  get frames(): readonly Frame[] {
    return this.#frames.all;
  }

  /** Close code and reason; undefined while the connection is open. */
  get closed(): { readonly code: number; readonly reason: string } | undefined {
    return this.#closed;
  }

  /** Sends a frame: a string unchanged, other values as JSON. */
  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  publish(topic: string, ...payload: readonly unknown[]): void {
    this.send({ event: 'message', topic, payload });
  }

  /** Returns the first frame that matches, waiting for it if necessary. */
  frame(wanted: (frame: Frame) => boolean, timeoutMs?: number): Promise<Frame> {
    return this.#frames.find(wanted, 'such frame', timeoutMs);
  }

  /** Sends a frame and returns the frames that arrive until the hub has processed it. */
  async ask(frame: unknown): Promise<readonly Frame[]> {
    await this.settle();
    const before = this.frames.length;
    this.send(frame);
    await this.settle();
    return this.frames.slice(before).filter((found) => !isBarrier(found));
  }

  /** Subscribes and records the events of this subscription only. */
  async subscribe(topic: string, params?: Readonly<Record<string, unknown>>): Promise<Recorder> {
    const frames = await this.ask({ event: 'subscribe', topic, params });
    const answer = frames.find(({ event }) => event === 'subscribed' || event === 'error');
    assert.equal(answer?.event, 'subscribed', `Cannot subscribe to ${topic}: ${JSON.stringify(answer)}`);
    const recorder = new Recorder(this, topic, answer?.subscription_id ?? 0);
    this.#recorders.push(recorder);
    // Events may have arrived between the acknowledgment and this line.
    for (const frame of this.frames) recorder.offer(frame);
    return recorder;
  }

  /**
   * Resolves when the hub has processed every frame sent on this connection, and all its earlier frames have arrived.
   */
  async settle(): Promise<void> {
    const id = ++this.#barriers;
    this.send({ event: 'unsubscribe', subscription_id: id });
    await this.frame((frame) => isBarrier(frame) && frame.description?.includes(` ${id}:`) === true);
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    const closed = new Promise((resolve) => this.socket.once('close', resolve));
    this.socket.terminate();
    await closed;
  }

  #take(bytes: Buffer): void {
    this.frameBytes.push(bytes.byteLength);
    const frame = JSON.parse(bytes.toString()) as Frame;
    for (const recorder of this.#recorders) recorder.offer(frame);
    this.#frames.push(frame);
  }
}

/** Whether a frame is the hub's rejection of an unknown subscription. It arrives after everything sent earlier. */
function isBarrier({ code }: Frame): boolean {
  return code === 10003;
}

/** Records the events of one subscription. */
export class Recorder {
  readonly client: SocketClient;
  readonly topic: string;
  readonly subscriptionId: number;
  readonly #events = new Arrivals<Event>();

  constructor(client: SocketClient, topic: string, subscriptionId: number) {
    this.client = client;
    this.topic = topic;
    this.subscriptionId = subscriptionId;
  }

  /** All events so far. */
  get events(): readonly Event[] {
    return this.#events.all;
  }

  /** Number of events taken so far. */
  get takenCount(): number {
    return this.#events.takenCount;
  }

  /** Returns the events since the previous take. */
  take(): Event[] {
    return this.#events.take();
  }

  /** Returns the first event that matches, waiting for it if necessary. */
  next(wanted: (event: Event) => boolean = () => true, timeoutMs?: number): Promise<Event> {
    return this.#events.find(wanted, `such event of ${this.topic}`, timeoutMs);
  }

  /**
   * Records the events of a frame of this subscription. A frame without an id belongs to the topic's only subscription.
   */
  offer(frame: Frame): void {
    if (frame.event !== 'message' || frame.topic !== this.topic) return;
    if (frame.subscription_id !== undefined && frame.subscription_id !== this.subscriptionId) return;
    for (const event of frame.payload ?? []) this.#events.push(event);
  }
}
