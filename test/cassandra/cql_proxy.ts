import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

const HEADER_BYTES = 9;
const ANSWER = 0x84;
const ERROR = 0x00;
const READY_TO_ASK = [0x07, 0x0a, 0x0d];

/** A request of version 4 of Cassandra's protocol: QUERY, EXECUTE or BATCH. */
export interface Request {
  readonly opcode: number;
  /** Its bytes as text, in which the values of strings can be found. */
  readonly text: string;
}

/** What becomes of a request: it passes, is refused with a code, is done although it is refused, or waits. */
export type Fate =
  | 'pass'
  | { readonly refuse: number }
  | { readonly doAndRefuse: number }
  | { readonly until: Promise<void> };

/** Codes of errors of the protocol. */
export const OVERLOADED = 0x1001;
export const INVALID = 0x2200;

/**
 * Stands between a client and a Cassandra and decides about each request. A request that waits is refused as overloaded
 * at once, and reaches the database when its time has come: a late write.
 */
export class CqlProxy {
  fate: (request: Request) => Fate = () => 'pass';
  /** Whether who connects is cut off at once. */
  isDown = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Late writes that the database has answered. */
  readonly lateDone: Promise<void>[] = [];

  private constructor(target: number) {
    this.#server = createServer((client) => {
      if (this.isDown) client.destroy();
      else this.#join(client, connect(target, '127.0.0.1'));
    });
  }

  static async open(target: number): Promise<CqlProxy> {
    const proxy = new CqlProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  #join(client: Socket, database: Socket): void {
    /** What is told instead of the database's answer, by the number of the request. */
    const instead = new Map<number, () => Buffer | undefined>();
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    eachFrame(client, (frame) => {
      const stream = frame.readInt16BE(2);
      const opcode = frame.readUInt8(4);
      const fate = READY_TO_ASK.includes(opcode) ? this.fate({ opcode, text: frame.toString('latin1') }) : 'pass';
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
      const told = other === undefined ? frame : other();
      if (told !== undefined) client.write(told);
    });
  }

  #delay(
    frame: Buffer,
    until: Promise<void>,
    { client, database, instead }: { client: Socket; database: Socket; instead: Map<number, () => Buffer | undefined> },
  ): void {
    client.write(errorFrame(frame.readInt16BE(2), OVERLOADED));
    // A number that the driver does not use, so that its own next request is not mixed up with this one.
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
  const message = Buffer.from('said the proxy');
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
