import { HubError } from '../errors.ts';
import { type Ingest, type Scanned, UNUSUAL } from '../ingest/ingest.ts';
import { lend } from '../model/borrowed.ts';
import { grouped } from '../problem.ts';
import { parseJson, UnsupportedJson } from '../model/json.ts';
import { show } from '../model/error_value_text.ts';
import { type ReceivedMessage, PAYLOAD_INVALID, type RejectedMessage, readArrived, TOPIC_INVALID } from './messages.ts';
import { PAYLOAD_BYTES_MAX } from './session.ts';
import { type InboundTopic as Named, readInbound } from './topics.ts';
import { isObject } from '../model/json_tree.ts';

/** Reasons for rejected messages. */
export const REASONS = ['topic', 'retained', 'json', 'id', 'invalid'] as const;
export type Reason = (typeof REASONS)[number];

export interface InboundDeps {
  readonly ingest: Pick<Ingest, 'body' | 'locationsEach' | 'proximitiesEach'>;
  /** Whether the hub can ingest and store `count` locations now. */
  hasCapacity(count: number): boolean;
  schedule(delayMs: number, callback: () => void): () => void;
  /** Calls `callback` in a later turn of the event loop. */
  later(callback: () => void): void;
  elapsedMs(): number;
  /** Maximum number of levels of nested JSON. */
  readonly depthMax: number;
  /**
   * Called when a batch was accepted, except for the rejected messages. Batches that wait for storage may be accepted
   * out of order.
   */
  taken(batch: number, refused: readonly RejectedMessage[]): void;
  /** Called when accepted locations could not be stored, so that the broker must redeliver unacknowledged messages. */
  again(why: string): void;
  /** Reports a rejected message. */
  problem(reason: Reason, problem: string, topic: string): void;
}

/** Retry interval while the hub is at capacity. */
const FULL_MS = 5;
/** Maximum processing time before yielding to the event loop. */
const TURN_MS = 5;
/** Maximum number of list values that are ingested at once. */
const PIECE = 500;

interface Batch {
  readonly number: number;
  readonly messages: readonly ReceivedMessage[];
  /** Index of the next message. */
  next: number;
  /** Parsed values of the next message that are not ingested yet. */
  parsed: Parsed | undefined;
  readonly refused: RejectedMessage[];
  /** Storage operations that must complete before the batch is accepted. */
  readonly works: Promise<void>[];
}

/** The values of one message. */
interface Parsed {
  readonly kind: Named['kind'];
  readonly topic: string;
  readonly values: readonly { readonly name: string; readonly value: unknown }[];
  /** Number of values ingested so far. */
  taken: number;
}

/**
 * Ingests messages of sources one after another, in order of arrival. While the hub is at capacity, nothing is ingested
 * or acknowledged, so the broker holds back further messages. A list may be ingested in parts as capacity permits, so
 * that a list larger than the whole capacity does not block later messages forever.
 */
export class Inbound {
  /** Number of messages rejected since start. */
  readonly refused: Record<Reason, number> = { topic: 0, retained: 0, json: 0, id: 0, invalid: 0 };
  readonly #deps: InboundDeps;
  readonly #batches: Batch[] = [];
  #isWaiting = false;

  constructor(deps: InboundDeps) {
    this.#deps = deps;
  }

  /** Queues a batch of the client's thread. */
  take(number: number, packed: Uint8Array): void {
    this.#batches.push({ number, messages: readArrived(packed), next: 0, parsed: undefined, refused: [], works: [] });
    if (!this.#isWaiting) this.#work();
  }

  /** Drops batches that are not accepted yet. The broker redelivers them, since they are not acknowledged. */
  forget(): void {
    this.#batches.length = 0;
  }

  #work(): void {
    const { schedule, later } = this.#deps;
    const then = this.#workOn();
    if (then === 'done') return;
    const again = (): void => {
      this.#isWaiting = false;
      this.#work();
    };
    this.#isWaiting = true;
    if (then === 'full') schedule(FULL_MS, again);
    else later(again);
  }

  // hot
  #workOn(): 'done' | 'full' | 'long' {
    const { hasCapacity, elapsedMs } = this.#deps;
    const begunMs = elapsedMs();
    let batch = this.#batches[0];
    while (batch !== undefined) {
      while (batch.next < batch.messages.length) {
        if (!hasCapacity(1) || !this.#accept(batch)) return 'full';
        if (elapsedMs() - begunMs > TURN_MS) return 'long';
      }
      this.#batches.shift();
      this.#end(batch);
      batch = this.#batches[0];
    }
    return 'done';
  }

  /** Ingests or rejects the next message of a batch, or ingests a part of a list. Returns false at capacity. hot */
  #accept(batch: Batch): boolean {
    const message = batch.messages[batch.next] as ReceivedMessage;
    try {
      const committed = batch.parsed === undefined ? this.#give(message, batch) : this.#givePiece(batch.parsed, batch);
      if (committed !== undefined) batch.works.push(committed);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      return false;
    }
    if (batch.parsed === undefined) batch.next++;
    return true;
  }

  #give({ topic, payload, isRetained }: ReceivedMessage, batch: Batch): Promise<void> | undefined {
    const named = readInbound(topic);
    if (typeof named === 'string') {
      this.#refuse(batch, 'topic', named, topic);
      return undefined;
    }
    if (isRetained) {
      this.#refuse(batch, 'retained', 'payload: was stored by the broker, and may be of any age', topic);
      return undefined;
    }
    if (payload.length > PAYLOAD_BYTES_MAX) {
      this.#refuse(
        batch,
        'invalid',
        `payload: must have at most ${grouped(PAYLOAD_BYTES_MAX)} bytes, found more`,
        topic,
      );
      return undefined;
    }
    const committed = named.kind === 'location' ? this.#giveBytes(named, payload) : UNUSUAL;
    if (committed !== UNUSUAL) return committed;
    this.#parse(named, { topic, payload }, batch);
    return batch.parsed && this.#givePiece(batch.parsed, batch);
  }

  /** Ingests a location, or a list that fits the capacity, from its bytes. Other messages must be parsed. */
  #giveBytes({ providerId }: Named, payload: Uint8Array): Scanned {
    const { ingest } = this.#deps;
    try {
      return ingest.body(lend(payload), { via: 'mqtt', ...(providerId !== undefined && { providerId }) });
    } catch (error) {
      if (error instanceof HubError && providerId === undefined) return UNUSUAL;
      throw error;
    }
  }

  /**
   * Parses a message that cannot be ingested from its bytes: a list, a proximity, a location without a provider, or an
   * invalid message.
   */
  #parse(named: Named, { topic, payload }: Pick<ReceivedMessage, 'topic' | 'payload'>, batch: Batch): void {
    const parsed = parsedFrom(payload, this.#deps.depthMax);
    if ('problem' in parsed) {
      this.#refuse(batch, 'json', parsed.problem, topic);
      return;
    }
    const { value } = parsed;
    const isList = Array.isArray(value);
    if (isList && named.kind === 'proximity') {
      this.#refuse(batch, 'invalid', `payload: must be a proximity, found ${show(value)}`, topic);
      return;
    }
    const values: Parsed['values'][number][] = [];
    for (const [index, each] of (isList ? value : [value]).entries()) {
      const name = isList ? `payload[${index}]` : '';
      const completed = completedBy(named, each);
      if (typeof completed !== 'string') values.push({ name, value: completed.value });
      else this.#refuse(batch, 'id', isList ? `${name}.${completed}` : completed, topic);
    }
    if (values.length > 0) batch.parsed = { kind: named.kind, topic, values, taken: 0 };
  }

  /** Ingests as many parsed values as there is capacity for, at least one. */
  #givePiece(parsed: Parsed, batch: Batch): Promise<void> | undefined {
    const { ingest, hasCapacity } = this.#deps;
    const { kind, topic, values, taken } = parsed;
    let count = Math.min(PIECE, values.length - taken);
    while (count > 1 && !hasCapacity(count)) count >>= 1;
    const piece = values.slice(taken, taken + count);
    const take = kind === 'location' ? ingest.locationsEach : ingest.proximitiesEach;
    const { problems, committed } = take.call(
      ingest,
      piece.map(({ value }) => value),
      'mqtt',
      (index) => piece[index]?.name ?? '',
    );
    for (const problem of problems) this.#refuse(batch, 'invalid', String(problem), topic);
    parsed.taken += count;
    if (parsed.taken === values.length) batch.parsed = undefined;
    return committed;
  }

  #refuse({ next, refused }: Batch, reason: Reason, problem: string, topic: string): void {
    if (refused.at(-1)?.[0] !== next) {
      this.refused[reason]++;
      // A retained message is ignored but valid, so it is acknowledged without an error.
      if (reason !== 'retained') refused.push([next, reason === 'topic' ? TOPIC_INVALID : PAYLOAD_INVALID]);
    }
    this.#deps.problem(reason, problem, topic);
  }

  #end({ number, refused, works }: Batch): void {
    const { taken, again } = this.#deps;
    if (works.length === 0) taken(number, refused);
    else {
      Promise.all(works).then(
        () => taken(number, refused),
        (error: Error) => again(error.message),
      );
    }
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a payload; returns the problem if it is invalid. `depthMax` is the maximum nesting of JSON; 200 by default.
 */
export function parsedFrom(
  payload: Uint8Array,
  depthMax?: number,
): { readonly value: unknown } | { readonly problem: string } {
  if (payload.length === 0) return { problem: 'payload: must be JSON, found nothing' };
  try {
    return { value: parseJson(utf8.decode(payload), depthMax) };
  } catch (error) {
    if (error instanceof UnsupportedJson) return { problem: error.message };
    const found = error instanceof SyntaxError ? error.message : 'bytes that are not UTF-8';
    return { problem: `payload: must be JSON, found ${found}` };
  }
}

/** Adds the ids in the topic to a value; returns the problem if the value has other ids. */
function completedBy({ providerId, source }: Named, value: unknown): { readonly value: unknown } | string {
  if (!isObject(value)) return { value };
  const given = value as { readonly provider_id?: unknown; readonly source?: unknown };
  const completed: Record<string, unknown> = { ...value };
  for (const [name, expected] of [
    ['provider_id', providerId],
    ['source', source],
  ] as const) {
    if (expected === undefined) continue;
    const found = given[name];
    if (found == null || found === '') completed[name] = expected;
    else if (found !== expected) return `${name}: must be ${show(expected)} as in the topic, found ${show(found)}`;
  }
  return { value: completed };
}
