import { WebSocket } from 'ws';
import type { Event } from '../../support/socket_client.ts';
import type { HubSeat } from './hub_seat.ts';

const TOPICS = ['fence_events', 'location_updates', 'collision_events'] as const;
type Topic = (typeof TOPICS)[number];

/** A received event. */
export interface Arrived {
  readonly event: Event;
  readonly atMs: number;
}

/** A connection that subscribes to everything at one hub, until it is closed. */
export class Watch {
  readonly seat: HubSeat;
  /** When all subscriptions were acknowledged. */
  readonly sinceMs: number;
  /** Events received since the previous take. */
  readonly arrived: Record<Topic, Arrived[]> = { fence_events: [], location_updates: [], collision_events: [] };
  readonly #socket: WebSocket;
  #closedAtMs: number | undefined;
  #more = Promise.withResolvers<void>();

  private constructor(seat: HubSeat, socket: WebSocket, sinceMs: number) {
    this.seat = seat;
    this.#socket = socket;
    this.sinceMs = sinceMs;
  }

  /** Undefined if the hub does not accept it, or closes it immediately. */
  static async open(seat: HubSeat): Promise<Watch | undefined> {
    const socket = new WebSocket(`${seat.base.replace('http', 'ws')}/ws/socket`, { perMessageDeflate: false });
    const early: Buffer[] = [];
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const keep = (bytes: Buffer): void => {
      early.push(bytes);
      const answers = early.filter((each) => each.includes('"event":"subscribed"'));
      if (answers.length === TOPICS.length) resolve(true);
    };
    socket.on('message', keep);
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.once('open', () => {
      for (const topic of TOPICS) socket.send(JSON.stringify({ event: 'subscribe', topic }));
    });
    if (!(await promise)) return undefined;
    const watch = new Watch(seat, socket, performance.now());
    socket.off('message', keep);
    socket.on('message', (bytes: Buffer) => watch.#take(bytes));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      watch.#closedAtMs = performance.now();
      watch.#wake();
    });
    for (const bytes of early) watch.#take(bytes);
    return watch;
  }

  get closedAtMs(): number | undefined {
    return this.#closedAtMs;
  }

  get isOpen(): boolean {
    return this.#closedAtMs === undefined;
  }

  /** Resolves when another event has arrived, the connection has closed, or the time has passed. */
  async more(timeoutMs: number): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, timeoutMs);
    await Promise.race([this.#more.promise, late.promise]);
    clearTimeout(timer);
  }

  close(): void {
    this.#socket.terminate();
  }

  #take(bytes: Buffer): void {
    const { event, topic, payload } = JSON.parse(bytes.toString());
    if (event !== 'message') return;
    const atMs = performance.now();
    for (const each of payload) this.arrived[topic as Topic].push({ event: each, atMs });
    this.#wake();
  }

  #wake(): void {
    this.#more.resolve();
    this.#more = Promise.withResolvers();
  }
}
