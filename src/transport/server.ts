import { STATUS_CODES } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { StartupError, hubError, type HubError } from '../errors.ts';
import type { AdmitBody, CountUnsent, HandleHttp, HandlePeer, AuthenticatePeer, Peer, TextReply } from '../exchange.ts';
import { TaskScheduler } from '../time/task_scheduler.ts';
import { BodyMemory } from './body_memory.ts';
import { type BrowserRules, Browsers } from './browsers.ts';
import { type Certificate, type CertificateFiles, readCertificate } from './certificate.ts';
import { openListener } from './listeners.ts';
import { ForwardedHeaders, type ForwardedRules, type PeerAddress } from './forwarded.ts';
import { FrameMemory } from './frame_memory.ts';
import { Guard } from './guard.ts';
import { type FailedRequest, HttpSide } from './http.ts';
import { type ClosingWord, PeerSide } from './peers.ts';
import { RateLimit } from './rate_limit.ts';
import { DeferredUpgrade } from './deferred_upgrade.ts';
import { Unsent } from './unsent.ts';

export interface ListenOptions {
  /** Name or address of the interface; `localhost` is both loopback addresses. */
  readonly host: string;
  /** Port; 0 for any free one. */
  readonly port: number;
  /** Absent for HTTP only. */
  readonly tls?: TlsOptions | undefined;
  readonly bodyMaxBytes: number;
  /** A longer frame closes its connection. */
  readonly frameMaxBytes: number;
  /** Maximum size of a request's headers; by default the limit of the native server. */
  readonly headerMaxBytes?: number;
  readonly connectionsMax?: number;
  /** Requests and frames per second of one address; unlimited if absent or 0. */
  readonly requestsPerSecond?: number;
  readonly idleTimeoutSeconds: number;
  /** Access rules for web pages; unrestricted by default. */
  readonly browsers?: BrowserRules;
  /** Trusted proxies, and the base path; none by default. */
  readonly forwarded?: ForwardedRules;
  readonly handleHttp: HandleHttp;
  /** Authorizes reading a large body; if absent, all are authorized. */
  readonly admitBody?: AdmitBody;
  /** Maximum memory for bodies being received, in bytes; unlimited by default. */
  readonly bodiesMaxBytes?: number;
  /** Counts the unsent bytes of all connections, in responses and frames. */
  readonly unsent?: CountUnsent;
  /** Scheduler for long work on this thread; by default, long responses have a scheduler of their own. */
  readonly turns?: TaskScheduler;
  /** Maximum memory for frames being received, in bytes; unlimited by default. */
  readonly framesMaxBytes?: number;
  readonly handlePeer: HandlePeer;
  /**
   * Whether a connecting client is authenticated. Authenticated clients have half of the memory for frames. If absent,
   * all clients are.
   */
  readonly knowPeer?: AuthenticatePeer;
  /** Called when a client has sent a frame that is too long. */
  readonly tooLong?: (peer: Peer, frameMaxBytes: number) => void;
  readonly socketPaths: readonly string[];
  /** Creates the response to a rejected request for a path. */
  readonly refuse: (error: HubError, path: string) => TextReply;
  /** Logs an internal error, and the request that it has ended, if any. */
  readonly report?: (error: unknown, request?: FailedRequest) => void;
}

export interface TlsOptions extends CertificateFiles {
  /** Whether only HTTPS is served. Otherwise HTTP is also served on the same port. */
  readonly only: boolean;
}

export interface Listening {
  /** The actual port, also if 0 was requested. */
  readonly port: number;
  /** Undefined without TLS. */
  readonly certificate: Certificate | undefined;
  /**
   * Reads the certificate again and serves it to new connections. Resolves to false if it has not changed. If it is
   * unusable, rejects with a StartupError and changes nothing.
   */
  renewCertificate(): Promise<boolean>;
  /**
   * Stops accepting connections, answers requests in flight, and closes WebSockets, by default with 1001. Resolves when
   * all connections are closed.
   */
  close(word?: ClosingWord): Promise<void>;
}

/** Maximum time that a shutdown waits for responses in flight, and for clients to read their close frame. */
const DRAIN_MS = 5_000;
const CLOSE_FRAME_MS = 100;
const SHUTTING_DOWN: ClosingWord = { code: 1001, reason: 'The hub is shutting down' };

const NO_BOUND = Number.POSITIVE_INFINITY;
const EVERYTHING: BrowserRules = { hosts: undefined, origins: [], foreign: 'everything' };
const DIRECTLY: ForwardedRules = { proxies: [], basePath: '' };
const HTTPS_ONLY = hubError('https_only');

/** Serves HTTP and WebSocket on one port. Rejects with a StartupError with host and port if they are not available. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { host, tls, headerMaxBytes = NO_BOUND, connectionsMax = NO_BOUND } = options;
  const { requestsPerSecond = 0, browsers = EVERYTHING, report = () => {} } = options;
  const limit = requestsPerSecond > 0 ? new RateLimit(requestsPerSecond, () => performance.now()) : undefined;
  let certificate = tls && readCertificate(tls);
  const isCertified = (name: string) => certificate?.names(name) === true;
  const peerAddress: PeerAddress =
    tls === undefined ? (response) => response.getRemoteAddress() : (response) => response.getProxiedRemoteAddress();
  const forwarded = new ForwardedHeaders(options.forwarded ?? DIRECTLY, peerAddress);
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
  const deferredUpgrade = knowPeer && (await openDeferredUpgrade(report));
  const peers = new PeerSide({
    ...options,
    socketPaths,
    report,
    guard,
    forwarded,
    unsent,
    turns,
    frames,
    deferredUpgrade,
  });
  const answerToPlain = tls?.only ? (path: string) => plainAnswer(options.refuse(HTTPS_ONLY, path)) : undefined;
  const served = certificate && { certificate, answerToPlain };
  const place = { host, port: options.port, connectionsMax, tls: served };
  const listener = await openListener({ http, peers, ...place }).catch((cause: unknown) => {
    deferredUpgrade?.close();
    const why = cause instanceof StartupError ? cause.message : String(cause);
    throw new StartupError(`Cannot listen on ${host}:${options.port}: ${why}`, { cause });
  });

  let closed: Promise<void> | undefined;
  const close = async (word: ClosingWord): Promise<void> => {
    listener.stop();
    const drained = http.drained();
    const open = peers.close(word);
    const deadline = new AbortController();
    await Promise.race([drained, delay(DRAIN_MS, undefined, { signal: deadline.signal, ref: false })]);
    deadline.abort();
    if (open > 0) await delay(CLOSE_FRAME_MS);
    listener.close();
    deferredUpgrade?.close();
  };
  return {
    port: listener.port,
    get certificate() {
      return certificate;
    },
    async renewCertificate() {
      if (tls === undefined || closed !== undefined) return false;
      const read = readCertificate(tls);
      if (read.digest === certificate?.digest) return false;
      listener.use(read);
      certificate = read;
      return true;
    },
    close(word = SHUTTING_DOWN) {
      closed ??= close(word);
      return closed;
    },
  };
}

/** Opens the deferred upgrade. Without it, connections that had to wait are opened under their own cork. */
async function openDeferredUpgrade(report: (error: unknown) => void): Promise<DeferredUpgrade | undefined> {
  try {
    return await DeferredUpgrade.open();
  } catch (error) {
    report(error);
    return undefined;
  }
}

/** Serializes a response that closes its connection. */
function plainAnswer({ status, headers = {}, body = '' }: TextReply): string {
  const lines = Object.entries({ ...headers, Upgrade: 'TLS/1.2, HTTP/1.1', Connection: 'Upgrade, close' });
  const length = Buffer.byteLength(body);
  const head = [...lines, ['Content-Length', length]].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`;
}
