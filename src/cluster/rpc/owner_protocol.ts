import type { CountedRun } from '../../wire/received_run.ts';
import { MessageError, malformed, unpackValue } from '../messages/codec.ts';
import { type ASK, FORWARD_TAIL, type MessageOf, type REPLY } from '../messages/messages.ts';

/**
 * Messages between an ingress hub and the owner of its objects.
 *
 * Locations, on `<name>.in.<incarnation of the owner>`:
 *
 *     0  u8 version      4  u32 bytes of the records      8  the records of all runs, then the FORWARD_TAIL
 *
 * Little-endian. The tail follows the records, so that these are sent from the buffer in which they were collected.
 *
 * Other requests are an ASK, on `<name>.ask.<incarnation>`. If an answer is larger than a message, each of its parts is
 * requested. Every answer is a REPLY.
 */
const VERSION = 3;
const RECORD_BYTES_AT = 4;
export const RECORDS_AT = 8;

type ForwardTail = ReturnType<typeof FORWARD_TAIL.read>;

/** Head of a request with locations. */
export type ForwardHead = Omit<ForwardTail, 'runs'>;
/** Head of every request. */
export type RequestHead = Omit<ForwardHead, 'sentBefore'>;
/** A request to an owner. */
export type SentRequest = ForwardHead['sentBefore'][number];

/** Locations for their owner. */
export interface ForwardRequest extends ForwardHead {
  /** Parts of the message. */
  readonly runs: readonly CountedRun[];
}

/** Other requests to an owner. */
export type AskRequest = MessageOf<typeof ASK>;
type AskKind<Request> = Request extends AskRequest ? Pick<Request, 'kind' | 'argument'> : never;
export type OwnerQuery = AskKind<AskRequest>;

/** Outcome of a request. */
export type OwnerReply = MessageOf<typeof REPLY>;

/** Writes the part before the records. */
export function writeForwardHead(view: DataView, recordBytes: number): void {
  view.setUint32(0, VERSION, true);
  view.setUint32(RECORD_BYTES_AT, recordBytes, true);
}

/** Reads a request with locations. Its records are not checked: see checkRun. Throws a MessageError. */
export function unpackForward(bytes: Uint8Array): ForwardRequest {
  const what = 'Cannot read locations of another hub';
  if (bytes.length < RECORDS_AT) throw new MessageError(`${what}: ${bytes.length} bytes are no request`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint8(0);
  if (version !== VERSION) throw malformed(what, 'version', version, `${VERSION}`);
  const end = RECORDS_AT + view.getUint32(RECORD_BYTES_AT, true);
  if (end > bytes.length) throw new MessageError(`${what}: ${bytes.length} bytes end within the records`);
  const tail = FORWARD_TAIL.read(what, bytes.subarray(end));
  let at = RECORDS_AT;
  const runs = tail.runs.map(({ names, bytes: size, count }): CountedRun => {
    const start = at;
    at += size;
    if (at > end) throw malformed(what, 'bytes of a run', size, `at most ${end - start}`);
    return { names, bytes: bytes.subarray(start, at), count };
  });
  if (at !== end) throw malformed(what, 'bytes of all runs', at - RECORDS_AT, `${end - RECORDS_AT}`);
  return { ...tail, runs };
}

/** Unpacks an answer, a packed value, from its parts. Throws a MessageError. */
export function unpackAnswer(parts: readonly Uint8Array[]): unknown {
  const [first, ...more] = parts;
  const whole = first !== undefined && more.length === 0 ? first : Buffer.concat(parts);
  return unpackValue('Cannot read the answer of another hub', whole);
}
