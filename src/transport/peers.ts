import { HubError } from '../errors.ts';
import type { CountUnsent, HandlePeer, HttpReply, AuthenticatePeer, Peer, PeerHead } from '../exchange.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import { answerWith, saysClose } from './answer.ts';
import type { Forwarded } from './forwarded.ts';
import { capacityOf, type FrameMemory } from './frame_memory.ts';
import type { Guard, Incoming } from './guard.ts';
import type { NativeApp, NativeBehavior, NativeContext, NativeRequest, NativeResponse } from './native.ts';
import type { SideCork } from './side_cork.ts';
import { type Served, SocketPeer } from './socket_peer.ts';

export interface PeerOptions {
  /** Paths of upgrade requests; those with a trailing slash are others. */
  readonly socketPaths: readonly string[];
  readonly handlePeer: HandlePeer;
  /** Left out: all are known. */
  readonly knowPeer?: AuthenticatePeer;
  /** Where connections are opened that `knowPeer` made wait. */
  readonly sideCork: SideCork | undefined;
  readonly guard: Guard;
  readonly forwarded: Forwarded;
  /** Makes the answer to a request for a connection on a path that is refused. */
  readonly refuse: (error: HubError, path: string) => HttpReply;
  readonly unsent: CountUnsent;
  readonly turns: TaskScheduler;
  /** Says how long a frame may be; a longer one closes its connection with 1009. */
  readonly frames: FrameMemory;
  /** Told of a connection whose client has sent a frame that was too long. */
  readonly tooLong?: (peer: Peer, frameMaxBytes: number) => void;
  /**
   * A connection on which nothing came or went for so long is closed. Shortly before, the server pings it, so that
   * only a peer that does not answer is lost. 0 switches it off.
   */
  readonly idleTimeoutSeconds: number;
  /** Told of what went wrong inside the hub, for the log. */
  readonly report: (error: unknown) => void;
}

/** What an open connection is closed with. */
export interface ClosingWord {
  readonly code: number;
  readonly reason: string;
}

/** The patterns of a path by which the tiers are served, for there may be one behavior for each pattern. */
const PATTERNS: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => path.replace(/[^/]+(?=\/?$)/, ':any'),
  () => '/*',
];

/** The WebSocket side of the server. */
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
   * Puts the paths on a native server. `closed` is called for each connection that ends.
   *
   * How long a frame may be is a matter of the behavior, and a connection may get any that is known. The native server
   * shows it to the handler of its pattern, so the first request for a connection is passed on through all of them.
   */
  serve(app: NativeApp, closed: () => void): void {
    const contexts: NativeContext[] = [];
    const { tiers } = this.#options.frames;
    for (const [tier, frameMaxBytes] of tiers.entries()) {
      const upgrade: NativeBehavior<Served>['upgrade'] = (response, request, context) => {
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

  /** Refuses new connections and closes the open ones. Returns how many were open. */
  close({ code, reason }: ClosingWord): number {
    this.#closing = true;
    const open = [...this.#peers];
    for (const peer of open) peer.close(code, reason);
    return open.length;
  }

  #behavior(closed: () => void): Omit<NativeBehavior<Served>, 'maxPayloadLength' | 'upgrade'> {
    const { handlePeer, idleTimeoutSeconds } = this.#options;
    return {
      idleTimeout: idleTimeout(idleTimeoutSeconds),
      // No bound here: the native server would drop frames silently. The send queue keeps the bound and closes.
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

  /** Takes a request for a connection. It is gone when this returns. */
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
      // An exception must not reach the native caller: it would end the process.
      report(error);
      response.close();
    }
  }

  #problemOf(head: UpgradeHead, response: NativeResponse): HubError | undefined {
    if (!this.#closing) return this.#options.guard.problemOf(head, response, true);
    return new HubError('HUB_UNAVAILABLE', 'Cannot open a WebSocket: the hub is shutting down');
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
    const { sideCork } = this.#options;
    // Without its own cork, the native server would end a connection that says "close", and go on to use it.
    if (sideCork === undefined || !asked.head.saysUpgrade) response.cork(upgrade);
    else sideCork.run(response, upgrade);
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

/** The native server ends the process when it is given fewer than 8 or more than 960 seconds. */
function idleTimeout(seconds: number): number {
  return seconds === 0 ? 0 : Math.min(Math.max(Math.round(seconds), 8), 960);
}

/** An upgrade request. The native one is gone when its handler returns, so all of it is copied. */
class UpgradeHead implements PeerHead, Incoming {
  readonly path: string;
  readonly query: string;
  headerBytes = 0;
  readonly #headers = new Map<string, string>();

  constructor(native: NativeRequest, forwarded: Forwarded) {
    this.path = forwarded.localPath(native.getUrl());
    this.query = native.getQuery() ?? '';
    native.forEach((name, value) => {
      this.headerBytes += name.length + value.length;
      if (!this.#headers.has(name)) this.#headers.set(name, value);
    });
  }

  /** The first of that name, which is in lower case. */
  header(name: string): string | undefined {
    return this.#headers.get(name);
  }

  get userAgent(): string {
    return this.header('user-agent') ?? '';
  }

  get authorization(): string | undefined {
    return this.header('authorization');
  }

  /** Whether the connection is to be upgraded, as RFC 6455 wants it to say; then it does not say "close" alone. */
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
