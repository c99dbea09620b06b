import { HubError } from '../errors.ts';
import { DEPTH_MAX, isDeeper } from '../model/depth.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The value of a JSON body, whatever its Content-Type says. Throws HUB_BAD_REQUEST. */
export function parseBody(bytes: Uint8Array): unknown {
  // hot: once per PUT of locations
  if (bytes.length === 0) throw new HubError('HUB_BAD_REQUEST', 'body: must be JSON, found nothing');
  try {
    return JSON.parse(utf8.decode(bytes)) as unknown;
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? cause.message : 'bytes that are not UTF-8';
    throw new HubError('HUB_BAD_REQUEST', `body: must be JSON, found ${reason}`, { cause });
  }
}

/** The text of a body. Throws HUB_BAD_REQUEST. */
export function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new HubError('HUB_BAD_REQUEST', 'body: must be text, found bytes that are not UTF-8', { cause });
  }
}

/** Throws HUB_PAYLOAD_TOO_LARGE. */
export function checkSize({ byteLength }: Uint8Array, maxBytes: number): void {
  if (byteLength <= maxBytes) return;
  throw new HubError('HUB_PAYLOAD_TOO_LARGE', `body: must have at most ${maxBytes} bytes, found ${byteLength}`);
}

/** Throws HUB_BAD_REQUEST for a value nested too deeply to be walked. */
export function checkDepth(value: unknown): void {
  if (!isDeeper(value)) return;
  throw new HubError('HUB_BAD_REQUEST', `body: must be nested at most ${DEPTH_MAX} levels deep, found more`);
}
