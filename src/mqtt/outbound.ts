import type { DeliveryBatch } from '../fanout/batch.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { PUBLICATIONS, type Publication, qosOf, sentKindOf, type TopicStyle } from '../model/mqtt.ts';
import type { FilterFields } from '../model/topics.ts';
import { MessageWriter, type OutgoingMessage, TOPIC_BYTES_MAX } from './messages.ts';
import { topicsOf } from './topics.ts';

export interface OutboundDeps {
  readonly fanout: Pick<Fanout, 'listen'>;
  readonly style: TopicStyle;
  /** Publications, each with the minimum interval between two messages of one object. */
  readonly wanted: readonly { readonly publication: Publication; readonly minIntervalMs: number }[];
  /** Sends packed messages to the client's thread. */
  send(packed: Uint8Array<ArrayBuffer>): void;
  /** Maximum bytes in transit to the thread. */
  readonly bytesMax: number;
  /** Whether this hub publishes the events of an entity that all hubs of the cluster announce. */
  announces(id: string): boolean;
}

const PLAIN = { isRetained: false, minIntervalMs: 0, motionAs: undefined, lifeMs: 0, sentAs: undefined } as const;

/**
 * Publishes the events of this hub: packs each event for its topics and sends it to the client's thread. Events of one
 * turn of the event loop are sent together.
 */
export class Outbound {
  readonly #deps: OutboundDeps;
  readonly #writer = new MessageWriter();
  readonly #ends: (() => void)[];
  #inTransit = 0;
  /** Number of events dropped because too many bytes were in transit. Should stay 0. */
  dropped = 0;

  constructor(deps: OutboundDeps) {
    this.#deps = deps;
    this.#ends = deps.wanted.map(({ publication, minIntervalMs }) => {
      const { topic, crs } = PUBLICATIONS[publication];
      const receive = (batch: DeliveryBatch, fields: readonly FilterFields[], how: string): void => {
        if (how === 'announced' && !deps.announces(String(fields[0]?.[0]))) return;
        this.#publish(publication, { batch, fields, minIntervalMs });
      };
      return deps.fanout.listen({ receive }, { topic, view: { crs } });
    });
  }

  /** Publishes a message that is not an event, with QoS 1. */
  readonly publish = (
    topic: string,
    payload: Uint8Array,
    options: Partial<Pick<OutgoingMessage, 'isRetained' | 'minIntervalMs' | 'motionAs' | 'lifeMs'>>,
  ): void => this.#write({ ...PLAIN, topic, payload, qos: 1, ...options });

  /** Resets the state for a new thread. */
  begin(): void {
    this.#inTransit = 0;
  }

  /** Records that the thread has accepted `bytes` bytes. */
  room(bytes: number): void {
    this.#inTransit -= bytes;
  }

  close(): void {
    for (const end of this.#ends) end();
    this.flush();
  }

  /** Sends the packed messages. */
  readonly flush = (): void => {
    if (this.#writer.count === 0) return;
    const packed = this.#writer.take();
    this.#inTransit += packed.length;
    this.#deps.send(packed);
  };

  /** hot */
  #publish(
    publication: Publication,
    {
      batch,
      fields,
      minIntervalMs,
    }: { readonly batch: DeliveryBatch; readonly fields: readonly FilterFields[]; readonly minIntervalMs: number },
  ): void {
    const qos = qosOf(publication);
    const { style } = this.#deps;
    for (let i = 0; i < batch.count; i++) {
      const payload = batch.bytesAt(i);
      const own = fields[i] as FilterFields;
      const sentAs = sentKindOf(publication, own);
      for (const topic of topicsOf(publication, own, style)) {
        this.#write({ topic, payload, qos, isRetained: false, minIntervalMs, motionAs: undefined, lifeMs: 0, sentAs });
      }
    }
  }

  #write(publishing: OutgoingMessage): void {
    if (this.#inTransit + this.#writer.length > this.#deps.bytesMax || publishing.topic.length * 3 > TOPIC_BYTES_MAX) {
      this.dropped++;
      return;
    }
    this.#writer.addPublishing(publishing);
    if (this.#writer.count === 1) queueMicrotask(this.flush);
  }
}
