import type { OutgoingMessage } from './messages.ts';
import { SESSION_TAKEN_OVER } from './session.ts';

/** A message is dropped once the connection has closed this often while it was the only QoS 1 message in flight. */
const CLOSINGS_MAX = 2;
/**
 * MQTT 5 reason codes that are not caused by a message: server busy, server shutting down, keep alive timeout, session
 * taken over, administrative action, use another server, server moved, connection rate exceeded.
 */
const FOR_NO_MESSAGE: ReadonlySet<number | undefined> = new Set([
  ...[0x89, 0x8b, 0x8d, SESSION_TAKEN_OVER, 0x98, 0x9c, 0x9d, 0x9f],
]);
/** Maximum number of barred topics. */
const BARRED_MAX = 1000;

/**
 * Identifies poison messages. A broker closes the connection on a message that it does not accept, for example one with
 * too many topic levels. The message would close every further connection, so it is dropped:
 *
 *     connection closes ──▶ the messages in flight become suspects and are published one at a time
 *     closes with one suspect in flight ──▶ the second time it is dropped; its topic is barred if the broker gave a reason
 *     acknowledged ──▶ no longer a suspect
 */
export class SuspectMessages {
  /** Number of messages at the head of the queue that are published one at a time. */
  #count = 0;
  /** How often the connection has closed while a message was the only one in flight. */
  readonly #closings = new WeakMap<OutgoingMessage, number>();
  /** Topics for which the broker has closed the connection, oldest first. */
  readonly #barred = new Set<string>();

  /** Most messages in flight, of the `most` that the broker accepts. hot */
  inFlightMax(most: number): number {
    return this.#count > 0 ? 1 : most;
  }

  /** hot */
  isBarred(topic: string): boolean {
    return this.#barred.has(topic);
  }

  /** The message published next is acknowledged, rejected or dropped. */
  settled(): void {
    this.#count = Math.max(0, this.#count - 1);
  }

  /** The broker has closed the connection. Returns the message to drop, if it is identified. */
  closed(inFlight: Iterable<OutgoingMessage>, reasonCode: number | undefined): OutgoingMessage | undefined {
    if (FOR_NO_MESSAGE.has(reasonCode)) return undefined;
    // Messages that expire belong to this connection and are not published again.
    const suspects = [...inFlight].filter(({ lifeMs }) => lifeMs === 0);
    // Earlier suspects that were not published again yet follow in the queue.
    this.#count = Math.max(this.#count, suspects.length);
    const [only] = suspects;
    if (only === undefined || suspects.length > 1) return undefined;
    const closings = (this.#closings.get(only) ?? 0) + 1;
    this.#closings.set(only, closings);
    if (closings < CLOSINGS_MAX) return undefined;
    this.settled();
    if (reasonCode !== undefined) this.#bar(only.topic);
    return only;
  }

  #bar(topic: string): void {
    this.#barred.add(topic);
    if (this.#barred.size <= BARRED_MAX) return;
    const [oldest = ''] = this.#barred;
    this.#barred.delete(oldest);
  }
}
