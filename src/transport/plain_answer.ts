import { STATUS_CODES } from 'node:http';
import type { TextReply } from '../exchange.ts';

/** A reply as it goes over the wire, on a connection that ends with it. */
export function plainAnswer({ status, headers = {}, body = '' }: TextReply): string {
  const lines = Object.entries({ ...headers, Upgrade: 'TLS/1.2, HTTP/1.1', Connection: 'Upgrade, close' });
  const length = Buffer.byteLength(body);
  const head = [...lines, ['Content-Length', length]].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`;
}
