import { HubError } from '../errors.ts';
import { type Ingest, type Scanned, UNUSUAL } from '../ingest/ingest.ts';
import { lend } from '../model/borrowed.ts';
import { grouped } from '../model/bounds.ts';
import { parseJson, UnsupportedJson } from '../model/json.ts';
import { show } from '../model/error_value_text.ts';
import { type Arrived, PAYLOAD_INVALID, type Refused, readArrived, TOPIC_INVALID } from './messages.ts';
import { PAYLOAD_BYTES_MAX } from './session.ts';
import { type Inbound as Named, readInbound } from './topics.ts';

/** Why messages are refused. */
export const REASONS = ['topic', 'retained', 'json', 'id', 'invalid'] as const;
export type Reason = (typeof REASONS)[number];

export interface InboundDeps {
  readonly ingest: Pick<Ingest, 'body' | 'locationsEach' | 'proximitiesEach'>;
  /** Whether the hub can take that many locations now, and keep them. */
  hasCapacity(count: number): boolean;
  schedule(delayMs: number, callback: () => void): () => void;
  /** Calls back in another turn, when others have had theirs. */
  later(callback: () => void): void;
  elapsedMs(): number;
  /** Levels that JSON may be nested. */
  readonly depthMax: number;
  /** A batch was accepted, but for some messages. Called in the order of the batches that are accepted at once. */
  taken(batch: number, refused: readonly Refused[]): void;
  /** What was accepted could not be kept: the broker is to send again what has no acknowledgement. */
  again(why: string): void;
  /** What is wrong with a message that is refused. */
  problem(reason: Reason, problem: string, topic: string): void;
}

/** How soon it is tried again while the hub is full. */
const FULL_MS = 5;
/** How long messages are worked off in one turn. */
const TURN_MS = 5;
/** Of a long list so many values are taken at once. */
const PIECE = 500;

interface Batch {
  readonly number: number;
  readonly messages: readonly Arrived[];
  /** The place of the message that comes next. */
  next: number;
  /** What was parsed of it and is not taken yet. */
  parsed: Parsed | undefined;
  readonly refused: Refused[];
  /** What must have happened before it is taken. */
  readonly works: Promise<void>[];
}

/** The values of one message. */
interface Parsed {
  readonly kind: Named['kind'];
  readonly topic: string;
  readonly values: readonly { readonly name: string; readonly value: unknown }[];
  /** How many of them are taken. */
  taken: number;
}

/**
 * What sources have published, on its way into the hub: one after the other, in the order in which it came. While the hub is
 * full nothing is taken and nothing is acknowledged, so the broker holds back what it has. Of a list as much is taken as there
 * is room for: one that is longer than the hub has room for at any time must not hold up what comes behind it for ever.
 */
export class Inbound {
  /** Messages that were refused since the start. */
  readonly refused: Record<Reason, number> = { topic: 0, retained: 0, json: 0, id: 0, invalid: 0 };
  readonly #deps: InboundDeps;
  readonly #batches: Batch[] = [];
  #isWaiting = false;

  constructor(deps: InboundDeps) {
    this.#deps = deps;
  }

  /** Takes a batch of the client's thread. */
  take(number: number, packed: Uint8Array): void {
    this.#batches.push({ number, messages: readArrived(packed), next: 0, parsed: undefined, refused: [], works: [] });
    if (!this.#isWaiting) this.#work();
  }

  /** Forgets what has come and is not accepted: the broker has no acknowledgement of it. */
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

  /** Accepts the next message of a batch, or a piece of it, or refuses it. Returns false where the hub is full. hot */
  #accept(batch: Batch): boolean {
    const message = batch.messages[batch.next] as Arrived;
    try {
      const kept = batch.parsed === undefined ? this.#give(message, batch) : this.#givePiece(batch.parsed, batch);
      if (kept !== undefined) batch.works.push(kept);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      return false;
    }
    if (batch.parsed === undefined) batch.next++;
    return true;
  }

  #give({ topic, payload, isRetained }: Arrived, batch: Batch): Promise<void> | undefined {
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
    const kept = named.kind === 'location' ? this.#giveBytes(named, payload) : UNUSUAL;
    if (kept !== UNUSUAL) return kept;
    this.#parse(named, { topic, payload }, batch);
    return batch.parsed && this.#givePiece(batch.parsed, batch);
  }

  /** Gives the bytes of a location, or of a list that there is room for. What is unusual in any way is to be parsed. */
  #giveBytes({ providerId }: Named, payload: Uint8Array): Scanned {
    const { ingest } = this.#deps;
    try {
      return ingest.body(lend(payload), { via: 'mqtt', ...(providerId !== undefined && { providerId }) });
    } catch (error) {
      if (error instanceof HubError && providerId === undefined) return UNUSUAL;
      throw error;
    }
  }

  /** What is unusual: lists, proximities, locations that leave out their provider, and what is wrong. */
  #parse(named: Named, { topic, payload }: Pick<Arrived, 'topic' | 'payload'>, batch: Batch): void {
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

  /** Takes as much of what was parsed as there is room for, one value at least. */
  #givePiece(parsed: Parsed, batch: Batch): Promise<void> | undefined {
    const { ingest, hasCapacity } = this.#deps;
    const { kind, topic, values, taken } = parsed;
    let count = Math.min(PIECE, values.length - taken);
    while (count > 1 && !hasCapacity(count)) count >>= 1;
    const piece = values.slice(taken, taken + count);
    const take = kind === 'location' ? ingest.locationsEach : ingest.proximitiesEach;
    const { problems, kept } = take.call(
      ingest,
      piece.map(({ value }) => value),
      'mqtt',
      (index) => piece[index]?.name ?? '',
    );
    for (const problem of problems) this.#refuse(batch, 'invalid', problem, topic);
    parsed.taken += count;
    if (parsed.taken === values.length) batch.parsed = undefined;
    return kept;
  }

  #refuse({ next, refused }: Batch, reason: Reason, problem: string, topic: string): void {
    if (refused.at(-1)?.[0] !== next) {
      this.refused[reason]++;
      // What the broker has stored is not wrong, but of no use.
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

/** The value of a payload, or what is wrong with it. `depthMax`: levels that JSON may be nested; 200 when left out. */
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

/** A value with what its topic names; a text says what does not agree. */
function completedBy({ providerId, source }: Named, value: unknown): { readonly value: unknown } | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { value };
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
