import { HubError } from '../errors.ts';
import type { EachResult } from '../ingest/ingest.ts';
import { compileMap, type CompiledMap, type MappedItem } from '../mapping/compile_map.ts';
import { decodePayload } from '../mapping/decode.ts';
import { RATE_LIMIT, type Source, SOURCE_PAYLOAD_BYTES_MAX, type SourceStatus } from '../model/source.ts';
import { formatTime, parseTime } from '../model/time.ts';
import { Problem, problemOf } from '../problem.ts';
import { TokenBucket } from '../time/token_bucket.ts';

/** A payload as it has arrived. */
export interface ReceivedPayload {
  readonly content: Uint8Array | string;
  readonly topic?: string | undefined;
  readonly sender?: string | undefined;
}

export interface IntakeDeps {
  /** Wall-clock time. */
  now(): number;
  /** Accepts the valid values. Throws HUB_UNAVAILABLE if the hub is at capacity. */
  deliver(kind: CompiledMap['as'], values: readonly object[], nameOf: (index: number) => string): EachResult;
}

/** What became of a payload. */
export type IntakeResult =
  | { readonly what: 'flooded' }
  | { readonly what: 'busy'; readonly error: HubError }
  /** At least one item is accepted, or none was sent. */
  | { readonly what: 'accepted'; readonly committed: Promise<void> | undefined }
  | { readonly what: 'refused'; readonly problems: readonly Problem[] };

type Counts = Pick<SourceStatus, 'received' | 'mapped' | 'skipped' | 'refused' | 'throttled'>;

const utf8 = new TextDecoder('utf-8', { fatal: true });
/** Bytes that count as one item, so that payloads that are refused also count. */
const ITEM_BYTES = 1024;

/**
 * Passes the payloads of one source to the ingest, and counts them. A token bucket per source limits the rate: one token
 * per item or kilobyte, so a flood of one source costs the hub no more than its rate_limit, and the others nothing.
 */
export class Intake {
  readonly #source: Source;
  readonly #deps: IntakeDeps;
  readonly #map: CompiledMap;
  readonly #bucket: TokenBucket;
  readonly #counts: { -readonly [N in keyof Counts]: number } = {
    received: 0,
    mapped: 0,
    skipped: 0,
    refused: 0,
    throttled: 0,
  };
  /** By reason; the set of reasons is fixed. */
  readonly #refusedBy = new Map<string, number>();
  #lastRefused: SourceStatus['last_refused'];
  #receivedMs: number | undefined;
  #sourceMs: number | undefined;

  constructor(source: Source, deps: IntakeDeps) {
    this.#source = source;
    this.#deps = deps;
    this.#map = compileMap(source.map);
    const perSecond = this.limit;
    this.#bucket = new TokenBucket({ perSecond, burst: Math.max(1, perSecond), nowMs: deps.now() });
  }

  /** Tokens per second. */
  get limit(): number {
    return this.#source.rate_limit ?? RATE_LIMIT;
  }

  /** Decodes, maps and delivers a payload. Never throws. */
  accept({ content, topic, sender }: ReceivedPayload): IntakeResult {
    const nowMs = this.#deps.now();
    this.#counts.received++;
    this.#receivedMs = nowMs;
    const bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
    const cost = Math.max(1, Math.ceil(bytes / ITEM_BYTES));
    if (!this.#bucket.tryTake(1, nowMs)) {
      this.#counts.throttled++;
      return { what: 'flooded' };
    }
    if (bytes > SOURCE_PAYLOAD_BYTES_MAX) {
      this.#bucket.take(SOURCE_PAYLOAD_BYTES_MAX / ITEM_BYTES, nowMs);
      const problem = problemOf('body_too_large', { path: '$', limit: SOURCE_PAYLOAD_BYTES_MAX, found: bytes });
      return this.#refuse([problem], '');
    }
    // A payload that costs more is accepted, and the following ones wait until the debt is paid.
    this.#bucket.take(cost - 1, nowMs);
    const text = textOf(content);
    if (text instanceof Problem) return this.#refuse([text], '');
    const { format, columns } = this.#source;
    const value = decodePayload(text, { format, columns: columns ?? undefined }, nowMs);
    if (value instanceof Problem) return this.#refuse([value], text);
    const { mapped, problems, skipped } = this.#map.run({ value, topic, sender });
    this.#counts.skipped += skipped;
    this.#bucket.take(Math.max(0, mapped.length - cost), nowMs);
    return this.#deliver(mapped, problems, text);
  }

  /** Counts lines that were dropped because of their length. */
  dropped(lines: number): void {
    this.#counts.received += lines;
    this.#countRefusals('body_too_large', lines);
  }

  status(): Omit<SourceStatus, 'id' | 'state' | 'failures'> {
    const [receivedMs, sourceMs] = [this.#receivedMs, this.#sourceMs];
    return {
      ...this.#counts,
      refused_by: Object.fromEntries(this.#refusedBy),
      ...(receivedMs !== undefined && { last_received_at: formatTime(Math.floor(receivedMs)) }),
      ...(sourceMs !== undefined && { last_source_time: formatTime(sourceMs) }),
      ...(receivedMs !== undefined && sourceMs !== undefined && { clock_offset: Math.round(sourceMs - receivedMs) }),
      ...(this.#lastRefused !== undefined && { last_refused: this.#lastRefused }),
    };
  }

  #deliver(mapped: readonly MappedItem[], problems: readonly Problem[], text: string): IntakeResult {
    if (mapped.length === 0)
      return problems.length > 0 ? this.#refuse(problems, text) : { what: 'accepted', committed: undefined };
    this.#noteTime(mapped);
    try {
      const { problems: invalid, committed } = this.#deps.deliver(
        this.#map.as,
        mapped.map(({ value }) => value),
        (index) => mapped[index]?.at ?? '',
      );
      this.#counts.mapped += mapped.length - invalid.length;
      const all = [...problems, ...invalid];
      if (all.length > 0) {
        const refused = this.#refuse(all, text);
        if (invalid.length === mapped.length) return refused;
      }
      return { what: 'accepted', committed };
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      this.#counts.throttled += mapped.length;
      return { what: 'busy', error };
    }
  }

  /** Notes the latest time of the source, to compare its clock. */
  #noteTime(mapped: readonly MappedItem[]): void {
    let latestMs = Number.NEGATIVE_INFINITY;
    for (const { value } of mapped) {
      const time = value['timestamp_generated'];
      if (typeof time === 'string') latestMs = Math.max(latestMs, parseTime(time));
    }
    this.#sourceMs = latestMs === Number.NEGATIVE_INFINITY ? undefined : latestMs;
  }

  #refuse(problems: readonly Problem[], text: string): IntakeResult {
    for (const { reason } of problems) this.#countRefusals(reason, 1);
    const at = formatTime(Math.floor(this.#deps.now()));
    this.#lastRefused = { at, message: String(problems[0]), payload: redacted(text) };
    return { what: 'refused', problems };
  }

  #countRefusals(reason: string, count: number): void {
    if (count === 0) return;
    this.#counts.refused += count;
    this.#refusedBy.set(reason, (this.#refusedBy.get(reason) ?? 0) + count);
  }
}

function textOf(content: Uint8Array | string): string | Problem {
  if (typeof content === 'string') return content;
  try {
    return utf8.decode(content);
  } catch {
    return problemOf('not_text', { path: '$' });
  }
}

/** Names of members whose values are secrets. */
const SECRET_NAME = /(pass(word|wd)?|secret|token|api[_-]?key|apikey|authorization|credential|private)/i;
/** A member of JSON with a string, a number or a word as its value. */
const MEMBER = /"([^"\\]{1,100})"(\s*:\s*)("(?:[^"\\]|\\.)*"|[^\s"{}[\],]+)/g;
const HIDDEN = '"***"';

/** Maximum characters of a redacted payload. */
const SHOWN_MAX = 2000;

/**
 * Returns the beginning of a refused payload for operators. The values of members of JSON with names such as password,
 * token or api_key are replaced, and so are the values of HTTP headers with such names.
 */
export function redacted(text: string): string {
  const beginning = text.slice(0, SHOWN_MAX);
  return beginning
    .replace(MEMBER, (member: string, name: string, colon: string) =>
      SECRET_NAME.test(name) ? `"${name}"${colon}${HIDDEN}` : member,
    )
    .split('\n')
    .map((line) =>
      line.replace(/^([\w-]{1,100}):.*$/, (header: string, name: string) =>
        SECRET_NAME.test(name) ? `${name}: ***` : header,
      ),
    )
    .join('\n');
}
