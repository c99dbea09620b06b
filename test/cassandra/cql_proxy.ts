import type { Socket } from 'node:net';
import { TcpProxy } from '../support/tcp_proxy.ts';

const HEADER_BYTES = 9;
const ANSWER = 0x84;
const ERROR = 0x00;
const REQUESTS = [0x07, 0x0a, 0x0d];

/** A request of version 4 of Cassandra's protocol: QUERY, EXECUTE or BATCH. */
export interface Request {
  readonly opcode: number;
  /** Its bytes in Latin-1, which contain the values of strings. */
  readonly text: string;
}

/** Fate of a request: it passes, is rejected with an error code, is executed but answered with an error, or waits. */
export type Fate =
  | 'pass'
  | { readonly refuse: number }
  | { readonly doAndRefuse: number }
  | { readonly until: Promise<void> };

/** Error codes of the protocol. */
export const OVERLOADED = 0x1001;
export const INVALID = 0x2200;

/**
 * A proxy in front of a Cassandra node that decides the fate of each request. A request that waits is answered at once as
 * overloaded, and reaches the database when its promise resolves: a late write.
 */
export class CqlProxy extends TcpProxy {
  fate: (request: Request) => Fate = () => 'pass';
  /** Late writes that the database has answered. */
  readonly lateDone: Promise<void>[] = [];

  static open(target: number): Promise<CqlProxy> {
    return new CqlProxy(target).listen();
  }

  protected override forward(client: Socket, database: Socket): void {
    /** Replacements for the database's answers, by stream id. */
    const instead = new Map<number, () => Buffer | undefined>();
    eachFrame(client, (frame) => {
      const stream = frame.readInt16BE(2);
      const opcode = frame.readUInt8(4);
      const fate = REQUESTS.includes(opcode) ? this.fate({ opcode, text: frame.toString('latin1') }) : 'pass';
      if (fate === 'pass') database.write(frame);
      else if ('refuse' in fate) client.write(errorFrame(stream, fate.refuse));
      else if ('doAndRefuse' in fate) {
        instead.set(stream, () => errorFrame(stream, fate.doAndRefuse));
        database.write(frame);
      } else this.#delay(frame, fate.until, { client, database, instead });
    });
    eachFrame(database, (frame) => {
      const stream = frame.readInt16BE(2);
      const other = instead.get(stream);
      instead.delete(stream);
      const answer = other === undefined ? frame : other();
      if (answer !== undefined) client.write(answer);
    });
  }

  #delay(
    frame: Buffer,
    until: Promise<void>,
    { client, database, instead }: { client: Socket; database: Socket; instead: Map<number, () => Buffer | undefined> },
  ): void {
    client.write(errorFrame(frame.readInt16BE(2), OVERLOADED));
    // The driver does not use this stream id, so the response does not match another request.
    const late = Buffer.from(frame);
    const stream = 30_000 + this.lateDone.length;
    late.writeInt16BE(stream, 2);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.lateDone.push(promise);
    instead.set(stream, () => void resolve());
    void until.then(() => database.write(late));
  }
}

function eachFrame(socket: Socket, take: (frame: Buffer) => void): void {
  let bytes = Buffer.alloc(0);
  socket.on('data', (more: Buffer) => {
    bytes = Buffer.concat([bytes, more]);
    while (bytes.length >= HEADER_BYTES) {
      const length = HEADER_BYTES + bytes.readInt32BE(5);
      if (bytes.length < length) return;
      take(bytes.subarray(0, length));
      bytes = bytes.subarray(length);
    }
  });
}

function errorFrame(stream: number, code: number): Buffer {
  const message = Buffer.from('by the proxy');
  const frame = Buffer.alloc(HEADER_BYTES + 4 + 2 + message.length);
  frame.writeUInt8(ANSWER, 0);
  frame.writeInt16BE(stream, 2);
  frame.writeUInt8(ERROR, 4);
  frame.writeInt32BE(frame.length - HEADER_BYTES, 5);
  frame.writeInt32BE(code, HEADER_BYTES);
  frame.writeUInt16BE(message.length, HEADER_BYTES + 4);
  message.copy(frame, HEADER_BYTES + 6);
  return frame;
}
