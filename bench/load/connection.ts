import { connect, type Socket } from 'node:net';

/** Outcome of a message. */
export type Fate = 'accepted' | 'refused' | 'failed';

/** A connection to the hub with one message in flight at a time. */
export interface Connection {
  /** Rejections without a Retry-After. */
  readonly retryAfterMissing: number;
  /** Sends bytes; calls `done` once with the result. */
  send(bytes: Buffer, done: (fate: Fate) => void): void;
  close(): void;
}

/** Received bytes go into one reused buffer per connection. */
export function openSocket(
  port: number,
  { bufferBytes, onRead }: { readonly bufferBytes: number; readonly onRead: (bytes: Buffer) => void },
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const buffer = Buffer.allocUnsafe(bufferBytes);
    const socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: {
        buffer,
        callback(count) {
          onRead(buffer.subarray(0, count));
          return true;
        },
      },
    });
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}
