import type { Batch } from '../fanout/batch.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { PUBLICATIONS, type Publication, qosOf, sentKindOf, type TopicStyle } from '../model/mqtt.ts';
import type { FilterFields } from '../model/topics.ts';
import { MessageWriter, type Publishing, TOPIC_BYTES_MAX } from './messages.ts';
import { topicsOf } from './topics.ts';

export interface OutboundDeps {
  readonly fanout: Pick<Fanout, 'listen'>;
  readonly style: TopicStyle;
  /** What is published, and the milliseconds between two of one object. */
  readonly wanted: readonly { readonly publication: Publication; readonly minIntervalMs: number }[];
  /** Hands packed messages to the client's thread. */
  send(packed: Uint8Array<ArrayBuffer>): void;
  /** What the thread may have that it has not taken over. */
  readonly bytesMax: number;
  /** Whether this hub, of several, publishes an event that all of them announce: of an entity with that id. */
  announces(id: string): boolean;
}

const PLAIN = { isRetained: false, minIntervalMs: 0, isMotion: false, lifeMs: 0, sentAs: undefined } as const;

/**
 * What the hub publishes, on its way to the client's thread: the events that this hub makes itself, each under its topics.
 * All of one turn cross together.
 */
export class Outbound {
  readonly #deps: OutboundDeps;
  readonly #writer = new MessageWriter();
  readonly #ends: (() => void)[];
  #underWay = 0;
  /** Events that the thread had no room for, which should never be. */
  dropped = 0;

  constructor(deps: OutboundDeps) {
    this.#deps = deps;
    this.#ends = deps.wanted.map(({ publication, minIntervalMs }) => {
      const { topic, crs } = PUBLICATIONS[publication];
      const heard = (batch: Batch, fields: readonly FilterFields[], how: string): void => {
        if (how === 'announced' && !deps.announces(String(fields[0]?.[0]))) return;
        this.#publish(publication, { batch, fields, minIntervalMs });
      };
      return deps.fanout.listen({ heard }, { topic, view: { crs } });
    });
  }

  /** Publishes a message of another kind than the events, with QoS 1. */
  readonly publish = (
    topic: string,
    payload: Uint8Array,
    options: Partial<Pick<Publishing, 'isRetained' | 'minIntervalMs' | 'isMotion' | 'lifeMs'>>,
  ): void => this.#write({ ...PLAIN, topic, payload, qos: 1, ...options });

  /** There is another thread, which has nothing yet. */
  begin(): void {
    this.#underWay = 0;
  }

  /** The thread has taken over so many bytes. */
  room(bytes: number): void {
    this.#underWay -= bytes;
  }

  close(): void {
    for (const end of this.#ends) end();
    this.flush();
  }

  /** Hands over what is packed. */
  readonly flush = (): void => {
    if (this.#writer.count === 0) return;
    const packed = this.#writer.take();
    this.#underWay += packed.length;
    this.#deps.send(packed);
  };

  /** hot */
  #publish(
    publication: Publication,
    {
      batch,
      fields,
      minIntervalMs,
    }: { readonly batch: Batch; readonly fields: readonly FilterFields[]; readonly minIntervalMs: number },
  ): void {
    const qos = qosOf(publication);
    const { style } = this.#deps;
    for (let i = 0; i < batch.count; i++) {
      const payload = batch.bytesAt(i);
      const own = fields[i] as FilterFields;
      const sentAs = sentKindOf(publication, own);
      for (const topic of topicsOf(publication, own, style)) {
        this.#write({ topic, payload, qos, isRetained: false, minIntervalMs, isMotion: false, lifeMs: 0, sentAs });
      }
    }
  }

  #write(publishing: Publishing): void {
    if (this.#underWay + this.#writer.length > this.#deps.bytesMax || publishing.topic.length * 3 > TOPIC_BYTES_MAX) {
      this.dropped++;
      return;
    }
    this.#writer.addPublishing(publishing);
    if (this.#writer.count === 1) queueMicrotask(this.flush);
  }
}
