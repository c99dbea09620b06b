import { hubError, HubError } from '../errors.ts';
import { parseExactJson, parseJson, UnsupportedJson, unsupportedReason } from '../model/json.ts';
import { LongJson } from '../model/long_json.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface BodyLimits {
  /** Maximum nesting of JSON; default: 200. */
  readonly depthMax?: number;
}

type Parse = (text: string, depthMax?: number) => unknown;

/** Minimum size of a long body, which takes more than a few milliseconds to parse. */
export const LONG_BODY_BYTES = 256 * 1024;

/** Parses a JSON body, regardless of its Content-Type. Throws HUB_BAD_REQUEST. */
export function parseBody(bytes: Uint8Array, { depthMax }: BodyLimits = {}, parse: Parse = parseJson): unknown {
  // hot: once per PUT of locations
  if (bytes.length === 0) throw hubError('empty_body', { path: 'body' });
  try {
    return parse(utf8.decode(bytes), depthMax);
  } catch (cause) {
    throw refusal(cause);
  }
}

interface LongReading {
  readonly everywhere: boolean;
  /** See LongJsonOptions. */
  readonly textMax: number;
  readonly turns: TaskScheduler;
}

/** Parses a long JSON body in parts, with the checks of checkStorable. Rejects with HUB_BAD_REQUEST. */
export async function parseLongBody(
  bytes: Uint8Array,
  { depthMax, everywhere, textMax, turns }: BodyLimits & LongReading,
): Promise<unknown> {
  try {
    const reading = new LongJson(bytes, { everywhere, textMax, ...(depthMax !== undefined && { depthMax }) });
    do await turns.next();
    while (!reading.readPart());
    return reading.value;
  } catch (cause) {
    throw refusal(cause);
  }
}

/** Converts a parse error of a body to HUB_BAD_REQUEST; other errors stay unchanged. */
export function asRefusal(cause: unknown): unknown {
  return cause instanceof UnsupportedJson || cause instanceof SyntaxError ? refusal(cause) : cause;
}

function refusal(cause: unknown): HubError {
  if (cause instanceof UnsupportedJson) return new HubError(cause.problem, { cause });
  if (!(cause instanceof SyntaxError)) return hubError('not_utf8', { path: 'body' }, { cause });
  return hubError('not_json', { path: 'body' }, { cause, detail: cause.message });
}

/** Like parseBody, with exact numbers. */
export function parseExactBody(bytes: Uint8Array, limits: BodyLimits): unknown {
  return parseBody(bytes, limits, parseExactJson);
}

/** Decodes a body. Throws HUB_BAD_REQUEST. */
export function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw hubError('not_text', { path: 'body' }, { cause });
  }
}

/** Throws HUB_BAD_REQUEST for a value that cannot be stored. */
export function checkStorable(value: unknown, { depthMax }: BodyLimits): void {
  const problem = unsupportedReason(value, depthMax === undefined ? {} : { depthMax });
  if (problem !== undefined) throw new HubError(problem);
}

/** Throws HUB_PAYLOAD_TOO_LARGE. */
export function checkSize({ byteLength }: Uint8Array, maxBytes: number): void {
  if (byteLength <= maxBytes) return;
  throw hubError('body_too_large', { path: 'body', limit: maxBytes, found: byteLength });
}
