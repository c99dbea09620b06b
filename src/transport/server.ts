import { STATUS_CODES } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { HubError, StartupError } from '../errors.ts';
import type { AdmitBody, CountUnsent, HandleHttp, HandlePeer, AuthenticatePeer, Peer, TextReply } from '../exchange.ts';
import { TaskScheduler } from '../time/task_scheduler.ts';
import { BodyMemory } from './body_memory.ts';
import { type BrowserRules, Browsers } from './browsers.ts';
import { type Certificate, type CertificateFiles, readCertificate } from './certificate.ts';
import { openDoor } from './doors.ts';
import { Forwarded, type ForwardedRules, type PeerAddress } from './forwarded.ts';
import { FrameMemory } from './frame_memory.ts';
import { Guard } from './guard.ts';
import { HttpSide } from './http.ts';
import { type ClosingWord, PeerSide } from './peers.ts';
import { RateLimit } from './rate_limit.ts';
import { SideCork } from './side_cork.ts';
import { Unsent } from './unsent.ts';

export interface ListenOptions {
  /** Name or address of the interface; `localhost` means both loopback addresses. */
  readonly host: string;
  /** 0 asks for any free port. */
  readonly port: number;
  /** Left out: HTTP only. */
  readonly tls?: TlsOptions | undefined;
  readonly bodyMaxBytes: number;
  /** Longer frames close their connection. */
  readonly frameMaxBytes: number;
  /** Of all headers of a request together; as many as the native server takes when left out. */
  readonly headerMaxBytes?: number;
  readonly connectionsMax?: number;
  /** Requests and frames of one address; as many as come when left out, or 0. */
  readonly requestsPerSecond?: number;
  readonly idleTimeoutSeconds: number;
  /** What web pages may do; everything when left out. */
  readonly browsers?: BrowserRules;
  /** Which proxies are believed, and below which path all is served; none when left out. */
  readonly forwarded?: ForwardedRules;
  readonly handleHttp: HandleHttp;
  /** Asked before a large body is read; left out: everybody may send one. */
  readonly admitBody?: AdmitBody;
  /** Bytes of all bodies that are being read at once; as many as come when left out. */
  readonly bodiesMaxBytes?: number;
  /** What clients have not read yet; shared by the answers, and by whoever sends frames. */
  readonly unsent?: CountUnsent;
  /** Of all work that takes long on this thread; long answers have their own when left out. */
  readonly turns?: TaskScheduler;
  /** Bytes of frames that may be on their way in all; as many as come when left out. */
  readonly framesMaxBytes?: number;
  readonly handlePeer: HandlePeer;
  /** Asked when somebody connects: those that are known have half of the memory for frames. Left out: all are. */
  readonly knowPeer?: AuthenticatePeer;
  /** Told of a connection whose client has sent a frame that was longer than it may be. */
  readonly tooLong?: (peer: Peer, frameMaxBytes: number) => void;
  readonly socketPaths: readonly string[];
  /** Makes the answer to a request for a path that could not be handled. */
  readonly refuse: (error: HubError, path: string) => TextReply;
  /** Told of what went wrong inside the hub, for the log. */
  readonly report?: (error: unknown) => void;
}

export interface TlsOptions extends CertificateFiles {
  /** Whether HTTPS alone is served; otherwise HTTP is, too, on the same port. */
  readonly only: boolean;
}

export interface Listening {
  /** The real one, also when 0 was asked for. */
  readonly port: number;
  /** Undefined without TLS. */
  readonly certificate: Certificate | undefined;
  /**
   * Reads the certificate again and serves it to connections from now on; those that are open go on. Resolves to false
   * when it has not changed. Rejects with a StartupError, and changes nothing, when it cannot be used.
   */
  renewCertificate(): Promise<boolean>;
  /**
   * Takes no more, answers what is in flight, closes sockets, with 1001 when left out. Resolves when no connection is left.
   */
  close(word?: ClosingWord): Promise<void>;
}

/** How long a shutdown waits for answers in flight, and for peers to read their close frame. */
const DRAIN_MS = 5_000;
const CLOSE_FRAME_MS = 100;
const SHUTTING_DOWN: ClosingWord = { code: 1001, reason: 'The hub is shutting down' };

const NO_BOUND = Number.POSITIVE_INFINITY;
const EVERYTHING: BrowserRules = { hosts: undefined, origins: [], foreign: 'everything' };
const DIRECTLY: ForwardedRules = { proxies: [], basePath: '' };
const HTTPS_ONLY = new HubError('HUB_UPGRADE_REQUIRED', 'Cannot answer over HTTP: this hub serves HTTPS only');

/** Serves HTTP and WebSocket on one port. Throws a StartupError naming host and port when they cannot be had. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { host, tls, headerMaxBytes = NO_BOUND, connectionsMax = NO_BOUND } = options;
  const { requestsPerSecond = 0, browsers = EVERYTHING, report = () => {} } = options;
  const limit = requestsPerSecond > 0 ? new RateLimit(requestsPerSecond, () => performance.now()) : undefined;
  let certificate = tls && readCertificate(tls);
  const isCertified = (name: string) => certificate?.names(name) === true;
  const peerAddress: PeerAddress =
    tls === undefined ? (response) => response.getRemoteAddress() : (response) => response.getProxiedRemoteAddress();
  const forwarded = new Forwarded(options.forwarded ?? DIRECTLY, peerAddress);
  const guard = new Guard({
    headerMaxBytes,
    limit,
    browsers: new Browsers({ ...browsers, isCertified }, forwarded),
    peerAddress,
  });
  const socketPaths = options.socketPaths.flatMap((path) => [path, `${path}/`]);
  const {
    admitBody = () => undefined,
    bodiesMaxBytes = NO_BOUND,
    unsent = new Unsent(NO_BOUND),
    turns = new TaskScheduler(),
  } = options;
  const bodies = new BodyMemory(bodiesMaxBytes);
  const http = new HttpSide({ ...options, socketPaths, report, guard, forwarded, admitBody, bodies, unsent, turns });
  const { frameMaxBytes, framesMaxBytes = NO_BOUND, knowPeer } = options;
  const frames = new FrameMemory({ frameMaxBytes, maxBytes: framesMaxBytes, isShared: knowPeer !== undefined });
  const sideCork = knowPeer && (await openSideCork(report));
  const peers = new PeerSide({ ...options, socketPaths, report, guard, forwarded, unsent, turns, frames, sideCork });
  const answerToPlain = tls?.only ? (path: string) => plainAnswer(options.refuse(HTTPS_ONLY, path)) : undefined;
  const served = certificate && { certificate, answerToPlain };
  const place = { host, port: options.port, connectionsMax, tls: served };
  const door = await openDoor({ http, peers, ...place }).catch((cause: unknown) => {
    sideCork?.close();
    const why = cause instanceof StartupError ? cause.message : String(cause);
    throw new StartupError(`Cannot listen on ${host}:${options.port}: ${why}`, { cause });
  });

  let closed: Promise<void> | undefined;
  const close = async (word: ClosingWord): Promise<void> => {
    door.stop();
    const drained = http.drained();
    const open = peers.close(word);
    const deadline = new AbortController();
    await Promise.race([drained, delay(DRAIN_MS, undefined, { signal: deadline.signal, ref: false })]);
    deadline.abort();
    if (open > 0) await delay(CLOSE_FRAME_MS);
    door.close();
    sideCork?.close();
  };
  return {
    port: door.port,
    get certificate() {
      return certificate;
    },
    async renewCertificate() {
      if (tls === undefined || closed !== undefined) return false;
      const read = readCertificate(tls);
      if (read.digest === certificate?.digest) return false;
      door.use(read);
      certificate = read;
      return true;
    },
    close(word = SHUTTING_DOWN) {
      closed ??= close(word);
      return closed;
    },
  };
}

/** Connections that had to wait are opened without one, too. */
async function openSideCork(report: (error: unknown) => void): Promise<SideCork | undefined> {
  try {
    return await SideCork.open();
  } catch (error) {
    report(error);
    return undefined;
  }
}

/** A reply as it goes over the wire, on a connection that ends with it. */
function plainAnswer({ status, headers = {}, body = '' }: TextReply): string {
  const lines = Object.entries({ ...headers, Upgrade: 'TLS/1.2, HTTP/1.1', Connection: 'Upgrade, close' });
  const length = Buffer.byteLength(body);
  const head = [...lines, ['Content-Length', length]].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`;
}
