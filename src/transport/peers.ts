import type { Request, Response, Server, Websocket } from 'hyper-express';
import { HubError } from '../errors.ts';
import type { HandlePeer, HttpReply, Peer, PeerEvents } from '../exchange.ts';
import type { Guard } from './guard.ts';
import type { NativeResponse } from './native.ts';

export interface PeerOptions {
  /** Paths of upgrade requests; those with a trailing slash are others. */
  readonly socketPaths: readonly string[];
  readonly handlePeer: HandlePeer;
  readonly guard: Guard;
  /** Makes the answer to a request for a connection on a path that is refused. */
  readonly refuse: (error: HubError, path: string) => HttpReply;
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

/** How far a frame may be over the limit for its sender to be told so. */
const TELLABLE_BYTES = 64 * 1024;

/** The WebSocket side of the server. */
export class PeerSide {
  readonly #options: PeerOptions;
  readonly #peers = new Set<SocketPeer>();
  #closing = false;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  /** Puts the paths on a native server. `closed` is called for each connection that ends. */
  serve(server: Server, closed: () => void): void {
    for (const path of this.#options.socketPaths) this.#serve(server, path, closed);
  }

  /** Refuses new connections and closes the open ones with 1001. Returns how many were open. */
  close(): number {
    this.#closing = true;
    const open = [...this.#peers];
    for (const peer of open) peer.close(1001, 'The hub is shutting down');
    return open.length;
  }

  #serve(server: Server, path: string, closed: () => void): void {
    const { guard, refuse, frameMaxBytes, idleTimeoutSeconds } = this.#options;
    server.upgrade(path, (request, response) => {
      const native = response.raw as unknown as NativeResponse;
      const problem = this.#closing
        ? new HubError('HUB_UNAVAILABLE', 'Cannot open a WebSocket: the hub is shutting down')
        : guard.problemOf(incoming(request), native, true);
      if (problem !== undefined) {
        send(response, refuse(problem, path));
        return;
      }
      const { 'user-agent': userAgent = '', authorization } = request.headers;
      response.upgrade({ path, userAgent, authorization, query: request.path_query, client: guard.clientOf(native) });
    });
    const options = {
      message_type: 'ArrayBuffer',
      idle_timeout: idleTimeout(idleTimeoutSeconds),
      // A frame above this bound cuts the connection without a close frame. Up to it the hub can say 1009. The native
      // server keeps what has come of a frame, for each connection.
      max_payload_length: Math.min(frameMaxBytes + TELLABLE_BYTES, 2 ** 31),
      // No bound here: the native server would drop frames silently. The outbox keeps the bound and closes.
      max_backpressure: 0,
    } as const;
    server.ws(path, options, (socket) => {
      socket.on('close', closed);
      this.#open(socket);
    });
  }

  #open(socket: Websocket): void {
    const { handlePeer, guard, frameMaxBytes, report } = this.#options;
    const client = socket.context['client'] ?? '';
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
      else if (!guard.allowsFrame(client)) peer.close(1008, 'This address sends too many frames');
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

function incoming({ headers }: Request) {
  let headerBytes = 0;
  for (const name in headers) headerBytes += name.length + (headers[name]?.length ?? 0);
  return { headerBytes, header: (name: string) => headers[name] };
}

function send(response: Response, { status, headers = {}, body = '' }: HttpReply): void {
  response.status(status);
  for (const name in headers) response.header(name, headers[name] ?? '');
  response.send(String(body));
}

/** The native server ends the process when it is given fewer than 8 or more than 960 seconds. */
function idleTimeout(seconds: number): number {
  return seconds === 0 ? 0 : Math.min(Math.max(Math.round(seconds), 8), 960);
}
