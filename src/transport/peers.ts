import type { Server, Websocket } from 'hyper-express';
import type { HandlePeer, Peer, PeerEvents } from '../exchange.ts';

export interface PeerOptions {
  /** Paths of upgrade requests; each is served with a trailing slash too. */
  readonly socketPaths: readonly string[];
  readonly handlePeer: HandlePeer;
  /** A longer frame closes the connection with 1009. */
  readonly frameMaxBytes: number;
  /**
   * A connection on which nothing came or went for so long is closed. Shortly before, the server pings it, so that
   * only a peer that does not answer is lost. 0 switches it off.
   */
  readonly idleTimeoutSeconds: number;
  /** Told of what went wrong inside the hub, for the log. */
  readonly report: (error: unknown) => void;
}

/** The WebSocket side of the server. */
export class PeerSide {
  readonly #options: PeerOptions;
  readonly #peers = new Set<SocketPeer>();
  #closing = false;

  constructor(server: Server, options: PeerOptions) {
    this.#options = options;
    for (const path of options.socketPaths) {
      this.#serve(server, path);
      this.#serve(server, `${path}/`);
    }
  }

  /** Refuses new connections and closes the open ones with 1001. Returns how many were open. */
  close(): number {
    this.#closing = true;
    const open = [...this.#peers];
    for (const peer of open) peer.close(1001, 'The hub is shutting down');
    return open.length;
  }

  #serve(server: Server, path: string): void {
    server.upgrade(path, (request, response) => {
      if (this.#closing) response.status(503).send();
      else {
        const { 'user-agent': userAgent = '', authorization } = request.headers;
        response.upgrade({ path, userAgent, authorization, query: request.path_query });
      }
    });
    const { frameMaxBytes, idleTimeoutSeconds } = this.#options;
    const options = {
      message_type: 'ArrayBuffer',
      idle_timeout: idleTimeout(idleTimeoutSeconds),
      // A frame above this bound cuts the connection without a close frame. Up to it the hub can say 1009.
      max_payload_length: Math.min(4 * frameMaxBytes + 1024, 2 ** 31),
      // No bound here: the native server would drop frames silently. The outbox keeps the bound and closes.
      max_backpressure: 0,
    } as const;
    server.ws(path, options, (socket) => this.#open(socket));
  }

  #open(socket: Websocket): void {
    const { handlePeer, frameMaxBytes, report } = this.#options;
    const peer = new SocketPeer(socket);
    let events: PeerEvents;
    // An exception must not reach the native caller: it would end the process.
    const guarded = (happen: () => void): void => {
      try {
        happen();
      } catch (error) {
        report(error);
        peer.close(1011, 'An internal error occurred');
      }
    };
    this.#peers.add(peer);
    socket.on('close', () => {
      this.#peers.delete(peer);
      guarded(() => events?.closed());
    });
    guarded(() => {
      events = handlePeer(peer);
    });
    socket.on('message', (frame: ArrayBuffer, isBinary: boolean) => {
      if (isBinary) peer.close(1003, 'Only text frames are understood');
      else if (frame.byteLength > frameMaxBytes) peer.close(1009, `A frame may have ${frameMaxBytes} bytes`);
      else guarded(() => events.message(Buffer.from(frame).toString('utf8')));
    });
    socket.on('drain', () => guarded(() => events.drained()));
  }
}

/** A connection. Every method is harmless once it is closed. */
class SocketPeer implements Peer {
  readonly path: string;
  readonly userAgent: string;
  readonly authorization: string | undefined;
  readonly query: string;
  readonly #socket: Websocket;

  constructor(socket: Websocket) {
    this.#socket = socket;
    this.path = socket.context['path'] ?? '';
    this.userAgent = socket.context['userAgent'] ?? '';
    this.authorization = socket.context['authorization'];
    this.query = socket.context['query'] ?? '';
  }

  send(text: string | Uint8Array): void {
    this.#socket.send(text as string | Buffer, false);
  }

  bufferedBytes(): number {
    return this.#socket.buffered;
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }
}

/** The native server ends the process when it is given fewer than 8 or more than 960 seconds. */
function idleTimeout(seconds: number): number {
  return seconds === 0 ? 0 : Math.min(Math.max(Math.round(seconds), 8), 960);
}
