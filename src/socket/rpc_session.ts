import { type Access, FULL_ACCESS } from '../auth/authorizer.ts';
import { HubError } from '../errors.ts';
import type { CountUnsent, HandlePeer, Peer, PeerEvents } from '../exchange.ts';
import { SendQueue } from '../fanout/send_queue.ts';
import type { RpcErrorName } from '../model/rpc.ts';
import { show } from '../model/error_value_text.ts';
import { clientOf } from '../rpc/bounds.ts';
import { answerId, type Call, readParams, readRequest, readSocketCall } from '../rpc/call.ts';
import type { CallTaker, OpenCall } from '../rpc/calls.ts';
import { isObject, type RequestId, RpcRefusal, readMessage, responseText } from '../rpc/message.ts';
import type { ClientPort, Rpc } from '../rpc/rpc.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import { Expiry } from './expiry.ts';
import { FramesInOrder } from './frames_in_order.ts';
import { inTurns } from './in_turns.ts';
import type { RpcUse } from './rpc_targets.ts';
import { tokenOfUpgrade } from './upgrade_token.ts';
import type { WaitingFrames } from './waiting_frames.ts';

export interface RpcSocketDeps {
  readonly rpc: Rpc;
  /**
   * Asked before a method is called or handled; left out: everybody may do everything. Throws, or rejects with,
   * HUB_NOT_AUTHENTICATED, HUB_NOT_AUTHORIZED and HUB_UNAVAILABLE.
   */
  readonly authorize?: (asked: AskedMethod) => Access | Promise<Access>;
  /** The time of day, by which tokens expire. */
  now(): number;
  schedule(delayMs: number, callback: () => void): () => void;
  readonly waiting: WaitingFrames;
  readonly turns: TaskScheduler;
  readonly depthMax?: number;
  /** Counts what clients have not read yet. */
  readonly unsent?: CountUnsent;
  /** See SendQueueOptions; 64 MiB and 256 KiB when left out. */
  readonly queueMaxBytes?: number;
  readonly networkMaxBytes?: number;
  /** Told when a connection is closed because it does not read. */
  readonly tooSlow?: (peer: Peer, waitingBytes: number) => void;
  /** Told of what went wrong inside the hub, for the log. */
  readonly report?: (error: unknown) => void;
}

export interface AskedMethod {
  readonly use: RpcUse;
  /** That of the connection, which carries the API version. */
  readonly path: string;
  readonly method: string;
  readonly token: string | undefined;
}

const POLICY_VIOLATION = 1008;
const INTERNAL_ERROR = 1011;
const TRY_AGAIN_LATER = 1013;

/** Commands of the connection itself. Any other method is called. */
const REGISTER = 'register';
const UNREGISTER = 'unregister';

/** The WebSocket for remote procedure calls: whoever is connected may call methods and handle some. */
export function createRpcSocket(deps: RpcSocketDeps): HandlePeer {
  return (peer) => new RpcSession(peer, deps);
}

/**
 * One connection. Its frames are requests, which are run in order, and responses to what it was sent as a handler. What it
 * handles, and the calls that it waits for, end with it. The token is that of its upgrade request.
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
      run: inTurns(deps.turns, (text) => this.#run(text)),
      overflowed: () => peer.close(TRY_AGAIN_LATER, 'Too many frames wait for an access token to be verified'),
    });
    const expired = () => peer.close(POLICY_VIOLATION, 'The access token has expired: connect again with another');
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
        throw new RpcRefusal('invalidParams', `params.method: must be a string, found ${show(method)}`);
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

  /** Does it once it is permitted: at once where the token is known. */
  #after(
    asked: Pick<AskedMethod, 'use' | 'method'>,
    frame: unknown,
    act: (client: string) => void,
  ): Promise<void> | undefined {
    const { authorize } = this.#deps;
    const { path } = this.#peer;
    const access = authorize?.({ ...asked, path, token: this.#token }) ?? FULL_ACCESS;
    const permitted = ({ expiresMs, subject }: Access): void => {
      if (this.#closed) return;
      this.#expiry.set(0, expiresMs);
      act(clientOf(subject, this.#peer.address));
    };
    if (access instanceof Promise) {
      return access.then(permitted).catch((error: unknown) => this.#refuse(error, answerId(frame)));
    }
    permitted(access);
    return undefined;
  }

  #call(call: Call, client: string): void {
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

  /** Answers what a frame was refused with, where somebody waits for that. A defect is told to the log, and ends the connection. */
  #refuse(error: unknown, id: RequestId | undefined): void {
    const refusal = error instanceof HubError ? new RpcRefusal(reasonOf(error), error.message) : error;
    if (refusal instanceof RpcRefusal) {
      const { reason, code, message } = refusal;
      this.#deps.rpc.refused(reason);
      if (id !== undefined) this.#queue.reply(responseText(id, { error: { code, message } }));
      return;
    }
    this.#deps.report?.(error);
    this.#peer.close(INTERNAL_ERROR, 'An internal error occurred');
  }
}

function isResponse(frame: unknown): boolean {
  return isObject(frame) && frame['method'] === undefined && ('result' in frame || 'error' in frame);
}

/** Throws an RpcRefusal. */
function readZone(zoneId: unknown): string | undefined {
  if (zoneId === undefined || zoneId === null || typeof zoneId === 'string') return zoneId ?? undefined;
  throw new RpcRefusal('invalidParams', `params.zone_id: must be a string, found ${show(zoneId)}`);
}

/** Nobody is authenticated either while the identity server is away. */
function reasonOf({ code }: HubError): RpcErrorName {
  return code === 'HUB_NOT_AUTHORIZED' ? 'notAuthorized' : 'notAuthenticated';
}
