import type { Borrowed } from '../../model/borrowed.ts';
import type { Announced } from '../../rpc/carrier.ts';
import { ConfigRecordError, check, malformed, packed, TEXT, unpacked } from '../config/field_checks.ts';

/**
 * Messages about remote procedure calls between hubs: msgpack of `[version, kind, …]`.
 *
 *   who       from                    requests the handlers of all others
 *   here      from, handlers          handlers of a hub, each [method, id, zone or null]
 *   gone      from, handlers          removed handlers
 *   request   from, handler, text     a request to a handler, as JSON
 *   answer    text                    its response, as JSON
 */
export type RpcMessage =
  | { readonly say: 'who'; readonly from: string }
  | { readonly say: 'here' | 'gone'; readonly from: string; readonly handlers: readonly Announced[] }
  | { readonly say: 'request'; readonly from: string; readonly handlerId: string; readonly text: string }
  | { readonly say: 'answer'; readonly text: string };

const VERSION = 1;
const WHAT = 'Cannot read a message about remote procedure calls';

export function packRpcMessage(message: RpcMessage): Uint8Array {
  const head = [VERSION, message.say];
  switch (message.say) {
    case 'who':
      return packed([...head, message.from]);
    case 'here':
    case 'gone':
      return packed([
        ...head,
        message.from,
        message.handlers.map(({ method, id, zoneId = null }) => [method, id, zoneId]),
      ]);
    case 'request':
      return packed([...head, message.from, message.handlerId, message.text]);
    case 'answer':
      return packed([...head, message.text]);
  }
}

/** Throws a ConfigRecordError if it is malformed or of another version. */
export function readRpcMessage(bytes: Borrowed): RpcMessage {
  const [version, say, ...rest] = unpacked(WHAT, bytes);
  check(WHAT, 'version', version, { what: `${VERSION}`, fits: (value) => value === VERSION });
  switch (say) {
    case 'who':
      return { say, from: textOf('from', rest[0]) };
    case 'here':
    case 'gone':
      return { say, from: textOf('from', rest[0]), handlers: handlersIn(rest[1]) };
    case 'request':
      return {
        say,
        from: textOf('from', rest[0]),
        handlerId: textOf('handler', rest[1]),
        text: textOf('text', rest[2]),
      };
    case 'answer':
      return { say, text: textOf('text', rest[0]) };
    default:
      throw malformed(WHAT, 'what', say, 'who, here, gone, request or answer');
  }
}

/** JSON of an answer. Throws a ConfigRecordError if it is no answer. */
export function readAnswerText(bytes: Borrowed): string {
  const message = readRpcMessage(bytes);
  if (message.say === 'answer') return message.text;
  throw new ConfigRecordError(`${WHAT}: must be an answer, but is "${message.say}"`);
}

function handlersIn(value: unknown): readonly Announced[] {
  if (!Array.isArray(value)) throw malformed(WHAT, 'handlers', value, 'a list');
  return value.map((each: unknown) => {
    if (!Array.isArray(each)) throw malformed(WHAT, 'handler', each, 'a list');
    const [method, id, zoneId] = each as readonly unknown[];
    const named = { method: textOf('method', method), id: textOf('id', id) };
    return zoneId === null ? named : { ...named, zoneId: textOf('zone', zoneId) };
  });
}

function textOf(field: string, value: unknown): string {
  check(WHAT, field, value, TEXT);
  return value as string;
}
