import { hubError, type HubError } from '../errors.ts';
import type { CountUnsent, HandlePeer, HttpReply, AuthenticatePeer, Peer, PeerHead } from '../exchange.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import { answerWith, saysClose } from './answer.ts';
import type { ForwardedHeaders } from './forwarded.ts';
import { capacityOf, type FrameMemory } from './frame_memory.ts';
import type { Guard, GuardedRequest } from './guard.ts';
import type { NativeApp, NativeBehavior, NativeContext, NativeRequest, NativeResponse } from './native.ts';
import type { DeferredUpgrade } from './deferred_upgrade.ts';
import { type PeerData, SocketPeer } from './socket_peer.ts';

export interface PeerOptions {
  /** Paths of WebSockets. A path with a trailing slash is a different path. */
  readonly socketPaths: readonly string[];
  readonly handlePeer: HandlePeer;
  /** Whether a client is authenticated. If absent, all clients are. */
  readonly knowPeer?: AuthenticatePeer;
  /** Opens connections after an asynchronous `knowPeer`. */
  readonly deferredUpgrade: DeferredUpgrade | undefined;
  readonly guard: Guard;
  readonly forwarded: ForwardedHeaders;
  /** Creates the response to a rejected upgrade request for a path. */
  readonly refuse: (error: HubError, path: string) => HttpReply;
  readonly unsent: CountUnsent;
  readonly turns: TaskScheduler;
  /** Bounds the length of frames. A longer frame closes its connection with 1009. */
  readonly frames: FrameMemory;
  /** Called when a client has sent a frame that is too long. */
  readonly tooLong?: (peer: Peer, frameMaxBytes: number) => void;
  /**
   * Time after which an idle connection is closed. The server sends a ping shortly before, so only unresponsive clients
   * are disconnected. 0 disables the timeout.
   */
  readonly idleTimeoutSeconds: number;
  /** Logs an internal error. */
  readonly report: (error: unknown) => void;
}

/** Code and reason with which open connections are closed. */
export interface ClosingWord {
  readonly code: number;
  readonly reason: string;
}

/** Patterns that register a path once per tier, since each pattern has one behavior. */
const PATTERNS: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => path.replace(/[^/]+(?=\/?$)/, ':any'),
  () => '/*',
];

/** WebSocket side of the server. */
export class PeerSide {
  readonly #options: PeerOptions;
  readonly #paths: ReadonlySet<string>;
  readonly #peers = new Set<SocketPeer>();
  #closing = false;

  constructor(options: PeerOptions) {
    this.#options = options;
    this.#paths = new Set(options.socketPaths);
  }

  /**
   * Registers the paths on a native server. `closed` is called for each connection that closes.
   *
   * The bound on frames belongs to the behavior, and a connection may be opened with any known context. The native
   * server passes each context only to the handler of its pattern, so the first upgrade request is passed through all
   * handlers.
   */
  serve(app: NativeApp, closed: () => void): void {
    const contexts: NativeContext[] = [];
    const { tiers } = this.#options.frames;
    for (const [tier, frameMaxBytes] of tiers.entries()) {
      const upgrade: NativeBehavior<PeerData>['upgrade'] = (response, request, context) => {
        contexts[tier] = context;
        const isAllKnown = Object.keys(contexts).length === tiers.length;
        const path = this.#options.forwarded.localPath(request.getUrl());
        if (isAllKnown && this.#paths.has(path)) this.#receive(response, request, contexts);
        else request.setYield(true);
      };
      const behavior = { ...this.#behavior(closed), maxPayloadLength: capacityOf(frameMaxBytes), upgrade };
      const { basePath } = this.#options.forwarded;
      const paths = this.#options.socketPaths.flatMap((path) => [path, basePath + path]);
      const patterns = paths.map((path) => PATTERNS[tier]?.(path) ?? path);
      for (const pattern of new Set(patterns)) app.ws(pattern, behavior);
    }
  }

  /** Rejects new connections and closes the open ones. Returns the number of open connections. */
  close({ code, reason }: ClosingWord): number {
    this.#closing = true;
    const open = [...this.#peers];
    for (const peer of open) peer.close(code, reason);
    return open.length;
  }

  #behavior(closed: () => void): Omit<NativeBehavior<PeerData>, 'maxPayloadLength' | 'upgrade'> {
    const { handlePeer, idleTimeoutSeconds } = this.#options;
    return {
      idleTimeout: idleTimeout(idleTimeoutSeconds),
      // Not bounded here, because the native server would silently drop frames. The send queue is bounded and closes
      // the connection.
      maxBackpressure: 0,
      open: (socket) => {
        this.#peers.add(socket.peer);
        socket.peer.opened(socket, handlePeer);
      },
      message: ({ peer }, frame, isBinary) => peer.received(frame, isBinary),
      ping: ({ peer }, text) => peer.pinged(text.byteLength),
      drain: ({ peer }) => peer.drained(),
      close: ({ peer }, code, reason) => {
        this.#peers.delete(peer);
        closed();
        peer.closed(code, Buffer.from(reason).toString());
      },
    };
  }

  /** Handles an upgrade request, which is invalid when this returns. */
  #receive(response: NativeResponse, request: NativeRequest, contexts: readonly NativeContext[]): void {
    const { knowPeer = () => true, report } = this.#options;
    try {
      const head = new UpgradeHead(request, this.#options.forwarded);
      const problem = this.#problemOf(head, response);
      if (problem !== undefined) {
        this.#refuse(response, { head, problem });
        return;
      }
      const isKnown = knowPeer(head);
      if (isKnown instanceof Promise) this.#upgradeAfter(isKnown, response, { head, contexts }).catch(report);
      else this.#upgrade(response, { head, isKnown, contexts });
    } catch (error) {
      // An exception in the native caller would terminate the process.
      report(error);
      response.close();
    }
  }

  #problemOf(head: UpgradeHead, response: NativeResponse): HubError | undefined {
    if (!this.#closing) return this.#options.guard.problemOf(head, response, true);
    return hubError('shutting_down', { operation: 'open_socket' });
  }

  async #upgradeAfter(
    knowing: Promise<boolean>,
    response: NativeResponse,
    asked: { head: UpgradeHead; contexts: readonly NativeContext[] },
  ): Promise<void> {
    let isGone = false;
    response.onAborted(() => {
      isGone = true;
    });
    const isKnown = await knowing;
    if (isGone) return;
    const problem = this.#closing ? this.#problemOf(asked.head, response) : undefined;
    if (problem !== undefined) {
      response.cork(() => this.#refuse(response, { head: asked.head, problem }));
      return;
    }
    const upgrade = () => this.#upgrade(response, { ...asked, isKnown });
    const { deferredUpgrade } = this.#options;
    // Without the request's own cork, the native server would close a connection with "Connection: close" and still use
    // it.
    if (deferredUpgrade === undefined || !asked.head.saysUpgrade) response.cork(upgrade);
    else deferredUpgrade.run(response, upgrade);
  }

  #upgrade(
    response: NativeResponse,
    { head, isKnown, contexts }: { head: UpgradeHead; isKnown: boolean; contexts: readonly NativeContext[] },
  ): void {
    const { guard, report, frames, tooLong = () => {} } = this.#options;
    const capacity = frames.take(isKnown);
    const address = guard.addressOf(response);
    const allowsFrame = () => guard.allowsFrame(address);
    const peer = new SocketPeer(head, {
      address,
      isKnown,
      capacity,
      allowsFrame,
      tooLong,
      report,
    });
    response.upgrade({ peer }, head.key, head.protocol, head.extensions, contexts[capacity.tier] as NativeContext);
  }

  #refuse(response: NativeResponse, { head, problem }: { head: UpgradeHead; problem: HubError }): void {
    const { refuse, unsent, turns } = this.#options;
    const asksToClose = saysClose(head.header('connection'));
    answerWith({ response, method: 'GET', asksToClose }, refuse(problem, head.path), {
      unsent,
      turns,
      isLast: () => false,
    });
  }
}

/** Returns a valid timeout. The native server terminates the process for fewer than 8 or more than 960 seconds. */
function idleTimeout(seconds: number): number {
  return seconds === 0 ? 0 : Math.min(Math.max(Math.round(seconds), 8), 960);
}

/** An upgrade request. The native request is valid only during its handler, so all parts are copied. */
class UpgradeHead implements PeerHead, GuardedRequest {
  readonly path: string;
  readonly query: string;
  headerBytes = 0;
  readonly #headers = new Map<string, string>();

  constructor(native: NativeRequest, forwarded: ForwardedHeaders) {
    this.path = forwarded.localPath(native.getUrl());
    this.query = native.getQuery() ?? '';
    native.forEach((name, value) => {
      this.headerBytes += name.length + value.length;
      if (!this.#headers.has(name)) this.#headers.set(name, value);
    });
  }

  /** Returns the first header of a name in lower case. */
  header(name: string): string | undefined {
    return this.#headers.get(name);
  }

  get userAgent(): string {
    return this.header('user-agent') ?? '';
  }

  get authorization(): string | undefined {
    return this.header('authorization');
  }

  /** Whether the Connection header contains "upgrade", as RFC 6455 requires, so that it is not "close" alone. */
  get saysUpgrade(): boolean {
    return /upgrade/i.test(this.header('connection') ?? '');
  }

  get key(): string {
    return this.header('sec-websocket-key') ?? '';
  }

  get protocol(): string {
    return this.header('sec-websocket-protocol') ?? '';
  }

  get extensions(): string {
    return this.header('sec-websocket-extensions') ?? '';
  }
}
