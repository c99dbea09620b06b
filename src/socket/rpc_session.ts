import { problemOf } from '../problem.ts';
import { type Access, FULL_ACCESS } from '../auth/authorizer.ts';
import { HubError } from '../errors.ts';
import type { CountUnsent, HandlePeer, Peer, PeerEvents } from '../exchange.ts';
import { SendQueue } from '../fanout/send_queue.ts';
import type { RpcErrorName } from '../model/rpc.ts';
import { show } from '../model/error_value_text.ts';
import { clientOf } from '../rpc/bounds.ts';
import { answerId, type RpcCall, readParams, readRequest, readSocketCall } from '../rpc/call.ts';
import type { CallTaker, OpenCall } from '../rpc/calls.ts';
import { type RequestId, RpcRejection, readMessage, responseText } from '../rpc/message.ts';
import type { ClientPort, Rpc } from '../rpc/rpc.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import { Expiry } from './expiry.ts';
import { FramesInOrder } from './frames_in_order.ts';
import { runCooperatively } from './cooperative_frames.ts';
import type { RpcUse } from './rpc_targets.ts';
import { tokenOfUpgrade } from './upgrade_token.ts';
import type { WaitingFrames } from './waiting_frames.ts';
import { isObject } from '../model/json_tree.ts';

export interface RpcSocketDeps {
  readonly rpc: Rpc;
  /**
   * Authorizes calling or handling a method; if absent, everything is allowed. Throws, or rejects with,
   * HUB_NOT_AUTHENTICATED, HUB_NOT_AUTHORIZED and HUB_UNAVAILABLE.
   */
  readonly authorize?: (asked: MethodRequest) => Access | Promise<Access>;
  /** Wall-clock time, for the expiry of tokens. */
  now(): number;
  schedule(delayMs: number, callback: () => void): () => void;
  readonly waiting: WaitingFrames;
  readonly turns: TaskScheduler;
  readonly depthMax?: number;
  /** Counts the unsent bytes of all connections. */
  readonly unsent?: CountUnsent;
  /** See SendQueueOptions; 64 MiB and 256 KiB by default. */
  readonly queueMaxBytes?: number;
  readonly networkMaxBytes?: number;
  /** Called when a connection is closed because it reads too slowly. */
  readonly tooSlow?: (peer: Peer, waitingBytes: number) => void;
  /** Logs an internal error. */
  readonly report?: (error: unknown) => void;
}

export interface MethodRequest {
  readonly use: RpcUse;
  /** Path of the connection, which contains the API version. */
  readonly path: string;
  readonly method: string;
  readonly token: string | undefined;
}

const POLICY_VIOLATION = 1008;
const INTERNAL_ERROR = 1011;
const TRY_AGAIN_LATER = 1013;

/** Methods of the protocol itself. Any other method is a call to a handler. */
const REGISTER = 'register';
const UNREGISTER = 'unregister';

/** Creates the WebSocket for remote procedure calls, over which clients call and handle methods. */
export function createRpcSocket(deps: RpcSocketDeps): HandlePeer {
  return (peer) => new RpcSession(peer, deps);
}

/**
 * One connection. Its frames are requests, which run in order, and responses to calls that it received as a handler.
 * Closing it removes its handlers and cancels its calls. The token of the upgrade request authorizes all frames.
 */
class RpcSession implements PeerEvents {
  readonly #peer: Peer;
  readonly #deps: RpcSocketDeps;
  readonly #queue: SendQueue;
  readonly #frames: FramesInOrder;
  readonly #client: ClientPort;
  readonly #calls = new Set<OpenCall>();
  readonly #expiry: Expiry;
  readonly #token: string | undefined;
  #closed = false;

  constructor(peer: Peer, deps: RpcSocketDeps) {
    const { queueMaxBytes = 64 << 20, networkMaxBytes = 256 << 10, unsent, now, schedule } = deps;
    this.#peer = peer;
    this.#deps = deps;
    this.#token = tokenOfUpgrade(peer);
    const overflowed = (waitingBytes: number): void => deps.tooSlow?.(peer, waitingBytes);
    this.#queue = new SendQueue(peer, { queueMaxBytes, networkMaxBytes, ...(unsent && { unsent }), overflowed });
    this.#client = deps.rpc.connect((frame) => this.#queue.reply(frame));
    this.#frames = new FramesInOrder({
      all: deps.waiting,
      run: runCooperatively(deps.turns, (text) => this.#run(text)),
      overflowed: () => peer.close(TRY_AGAIN_LATER, 'Too many frames wait for an access token to be verified'),
    });
    const expired = () =>
      peer.close(POLICY_VIOLATION, 'The access token is no longer valid: connect again with another');
    this.#expiry = new Expiry({ now, schedule, expired });
  }

  message(text: string): void {
    this.#frames.push(text);
  }

  drained(): void {
    this.#queue.drained();
  }

  closed(): void {
    this.#closed = true;
    this.#expiry.clear();
    this.#queue.close();
    this.#client.close();
    for (const call of [...this.#calls]) call.cancel();
  }

  #run(text: string): Promise<void> | undefined {
    if (this.#closed) return undefined;
    let frame: unknown;
    try {
      frame = readMessage(text, this.#deps.depthMax);
      if (isResponse(frame)) {
        this.#client.answered(frame, Buffer.byteLength(text));
        return undefined;
      }
      return this.#request(frame);
    } catch (error) {
      this.#refuse(error, answerId(frame));
    }
    return undefined;
  }

  #request(frame: unknown): Promise<void> | undefined {
    const { request, id } = readRequest(frame);
    if (request.method === REGISTER || request.method === UNREGISTER) {
      const { method, zone_id: zoneId } = readParams(request, id) ?? {};
      if (typeof method !== 'string' || method === '') {
        throw new RpcRejection(
          'invalidParams',
          problemOf('not_a_string', { path: 'params.method', found: show(method) }),
        );
      }
      return this.#after({ use: 'register', method }, frame, () => {
        if (request.method === REGISTER) this.#client.register(method, readZone(zoneId));
        else this.#client.unregister(method);
        if (request['id'] !== undefined) this.#queue.reply(responseText(id, { result: true }));
      });
    }
    const call = readSocketCall(frame);
    return this.#after({ use: 'call', method: call.method }, frame, (client) => this.#call(call, client));
  }

  /** Runs `act` once it is authorized; immediately if the token is cached. */
  #after(
    asked: Pick<MethodRequest, 'use' | 'method'>,
    frame: unknown,
    act: (client: string) => void,
  ): Promise<void> | undefined {
    const { authorize } = this.#deps;
    const { path } = this.#peer;
    const access = authorize?.({ ...asked, path, token: this.#token }) ?? FULL_ACCESS;
    const permitted = (permission: Access): void => {
      if (this.#closed) return;
      const { expiresMs, revoked, subject } = permission;
      // A method that guests may use ignores the token, whose expiry and revocation still end the connection.
      if (permission !== FULL_ACCESS) this.#expiry.set(0, expiresMs, revoked);
      // A key that was revoked since it was verified has closed the connection.
      if (!this.#closed) act(clientOf(subject, this.#peer.address));
    };
    if (access instanceof Promise) {
      return access.then(permitted).catch((error: unknown) => this.#refuse(error, answerId(frame)));
    }
    permitted(access);
    return undefined;
  }

  #call(call: RpcCall, client: string): void {
    const { rpc } = this.#deps;
    let open: OpenCall | undefined;
    let isOver = false;
    const taker: CallTaker = {
      respond: (answer) => this.#queue.reply(responseText(call.id, answer)),
      over: () => {
        isOver = true;
        if (open !== undefined) this.#calls.delete(open);
      },
    };
    open = rpc.begin(call, taker, client);
    if (!isOver && call.isAnswered) this.#calls.add(open);
  }

  /**
   * Answers a rejected frame if the client expects a response. An internal error is logged and closes the connection.
   */
  #refuse(error: unknown, id: RequestId | undefined): void {
    const refusal = error instanceof HubError ? new RpcRejection(reasonOf(error), error) : error;
    if (refusal instanceof RpcRejection) {
      this.#deps.rpc.refused(refusal.reason);
      if (id !== undefined) this.#queue.reply(responseText(id, { error: refusal.error }));
      return;
    }
    this.#deps.report?.(error);
    this.#peer.close(INTERNAL_ERROR, 'An internal error occurred');
  }
}

function isResponse(frame: unknown): boolean {
  return isObject(frame) && frame['method'] === undefined && ('result' in frame || 'error' in frame);
}

/** Returns the zone id of a registration. Throws an RpcRejection if it is invalid. */
function readZone(zoneId: unknown): string | undefined {
  if (zoneId === undefined || zoneId === null || typeof zoneId === 'string') return zoneId ?? undefined;
  throw new RpcRejection('invalidParams', problemOf('not_a_string', { path: 'params.zone_id', found: show(zoneId) }));
}

/**
 * Returns the error name of a HubError. While the identity server is unavailable, clients count as not authenticated.
 */
function reasonOf({ code }: HubError): RpcErrorName {
  return code === 'HUB_NOT_AUTHORIZED' ? 'notAuthorized' : 'notAuthenticated';
}
