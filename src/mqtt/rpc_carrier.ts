import type { TopicStyle } from '../model/mqtt.ts';
import { show } from '../model/error_value_text.ts';
import {
  type Announced,
  type CarriedRpc,
  type CarrierPort,
  carriedText,
  type ForwardedRequest,
} from '../rpc/carrier.ts';
import { parsedFrom, type Reason } from './inbound.ts';
import { type ReceivedMessage, readArrived } from './messages.ts';
import type { Outbound } from './outbound.ts';
import { availableTopics, type RpcTopic, readRpcTopic, requestTopic, responseTopic } from './rpc_topics.ts';
import { isObject } from '../model/json_tree.ts';

export interface RpcCarrierDeps {
  readonly rpc: CarriedRpc;
  readonly style: TopicStyle;
  readonly publish: Outbound['publish'];
  schedule(delayMs: number, callback: () => void): () => void;
  /** Calls `callback` in a later turn of the event loop. */
  later(callback: () => void): void;
  elapsedMs(): number;
  /** Publishes a broadcast of a core zone, a JSON object. */
  broadcast(text: string): void;
  /** Handles a message that does not belong to remote procedure calls. Returns false if it does. */
  other(message: ReceivedMessage): boolean;
  /** Called when `bytes` received bytes were processed. */
  taken(bytes: number): void;
  /** Reports a rejected message. */
  problem(reason: Reason, problem: string, topic: string): void;
}

/** Lifetime of an announcement, and interval in which it is repeated. */
const [AVAILABLE_MS, ANNOUNCE_MS] = [120_000, 60_000] as const;
/** Expiry interval of a response. */
const RESPONSE_MS = 60_000;
/** Maximum processing time before yielding to the event loop. */
const TURN_MS = 5;
const NOTHING = new Uint8Array();

type Style = Exclude<TopicStyle, 'both'>;

/**
 * Remote procedure calls over a broker (rpc_topics.ts). Each hub is a handler of methods and a caller:
 *
 *     own handlers ── announce ──▶ available/{method}          available/{method} ──▶ registered handlers
 *     a call to one of these ────▶ request/{handler_id}        response/{hub} ──────▶ its response
 *     request, request/{id} ─────▶ own handlers, each of which answers on response/{_caller_id}
 *
 * The broker retains one announcement per method: the last one of any handler. So a hub that withdraws a handler clears
 * the announcement only if it is its own, and then announces another of its handlers if it has one. A cleared
 * announcement does not name its handler. If only one handler is registered for the method, it is removed; otherwise
 * all stay registered until they expire. When a hub goes offline, its status or last will removes its handlers.
 *
 * Messages are published on the current connection or not at all: announcements are repeated after each reconnect, and
 * a call that is not delivered times out.
 */
export class RpcCarrier {
  /** Number of messages rejected since start. */
  readonly refused: Record<Reason, number> = { topic: 0, retained: 0, json: 0, id: 0, invalid: 0 };
  readonly #deps: RpcCarrierDeps;
  readonly #port: CarrierPort;
  /** Handlers of this hub, by method. */
  readonly #own = new Map<string, Map<string, Announced>>();
  /** Topics on which the retained announcement is this hub's. */
  readonly #ownTopics = new Set<string>();
  /** Topic styles in which remote handlers were announced, by method and id. Used only if this hub uses both styles. */
  readonly #styles = new Map<string, Map<string, Style>>();
  readonly #batches: { readonly messages: readonly ReceivedMessage[]; next: number; readonly bytes: number }[] = [];
  #isWaiting = false;
  #isConnected = false;
  #isClosed = false;
  #stopAnnouncing = (): void => undefined;

  constructor(deps: RpcCarrierDeps) {
    this.#deps = deps;
    this.#port = deps.rpc.attach({
      name: 'mqtt',
      isUp: () => this.#isConnected,
      send: (request) => this.#send(request),
      announce: (handler) => this.#announce(handler),
      withdraw: (handler) => this.#withdraw(handler),
    });
  }

  /** Handles a connect or disconnect. */
  connected(isConnected: boolean): void {
    this.#isConnected = isConnected;
    this.#stopAnnouncing();
    if (isConnected) this.#announceAll();
    else this.#ownTopics.clear();
  }

  /** Queues messages of the client's thread. */
  take(packed: Uint8Array): void {
    if (this.#isClosed) return;
    this.#batches.push({ messages: readArrived(packed), next: 0, bytes: packed.length });
    if (!this.#isWaiting) this.#work();
  }

  /** Stops accepting messages. */
  stopTaking(): void {
    this.#isClosed = true;
    this.#batches.length = 0;
  }

  /** Drops received messages of a thread that has failed. */
  forget(): void {
    this.#batches.length = 0;
    this.connected(false);
  }

  /** Withdraws all announcements of this hub. */
  close(): void {
    this.stopTaking();
    this.#stopAnnouncing();
    this.#own.clear();
    for (const topic of this.#ownTopics) this.#clear(topic);
    this.#port.close();
  }

  #announceAll(): void {
    for (const ofMethod of this.#own.values()) for (const own of ofMethod.values()) this.#publishAvailable(own);
    this.#forgetStyles();
    this.#stopAnnouncing = this.#deps.schedule(ANNOUNCE_MS, () => this.#announceAll());
  }

  #announce(handler: Announced): void {
    const { method, id } = handler;
    const ofMethod = this.#own.get(method) ?? new Map<string, Announced>();
    this.#own.set(method, ofMethod.set(id, handler));
    this.#publishAvailable(handler);
  }

  #withdraw({ method, id }: Announced): void {
    const ofMethod = this.#own.get(method);
    if (ofMethod?.delete(id) !== true) return;
    const [other] = ofMethod.values();
    if (other !== undefined) {
      this.#publishAvailable(other);
      return;
    }
    this.#own.delete(method);
    for (const topic of availableTopics(method, this.#deps.style)) {
      if (this.#ownTopics.has(topic)) this.#clear(topic);
    }
  }

  #publishAvailable({ method, id, zoneId }: Announced): void {
    if (!this.#isConnected) return;
    const { style, publish } = this.#deps;
    const payload = Buffer.from(JSON.stringify({ id, method_name: method, zone_id: zoneId }));
    for (const topic of availableTopics(method, style)) {
      this.#ownTopics.add(topic);
      publish(topic, payload, { isRetained: true, lifeMs: AVAILABLE_MS });
    }
  }

  #clear(topic: string): void {
    this.#ownTopics.delete(topic);
    if (this.#isConnected) this.#deps.publish(topic, NOTHING, { isRetained: true, lifeMs: AVAILABLE_MS });
  }

  #send(request: ForwardedRequest): boolean {
    const { style, publish, rpc } = this.#deps;
    const text = this.#isConnected ? carriedText(request, rpc.hubId) : undefined;
    if (text === undefined) return false;
    const { method, handlerId, timeoutMs } = request;
    // A request published in both styles would be received twice.
    const announced = style === 'both' ? (this.#styles.get(method)?.get(handlerId) ?? 'slash') : style;
    publish(requestTopic(method, handlerId, announced), Buffer.from(text), { lifeMs: timeoutMs });
    return true;
  }

  #work(): void {
    const { later, elapsedMs, taken } = this.#deps;
    const untilMs = elapsedMs() + TURN_MS;
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      while (batch.next < batch.messages.length) {
        if (elapsedMs() > untilMs) {
          this.#isWaiting = true;
          later(() => {
            this.#isWaiting = false;
            this.#work();
          });
          return;
        }
        this.#message(batch.messages[batch.next++] as ReceivedMessage);
      }
      // Processing an answer may have closed this carrier.
      if (this.#batches[0] === batch) this.#batches.shift();
      taken(batch.bytes);
    }
  }

  #message(arrived: ReceivedMessage): void {
    if (this.#deps.other(arrived)) return;
    const { topic } = arrived;
    const read = readRpcTopic(topic);
    if (typeof read === 'string') {
      this.#refuse('topic', read, topic);
      return;
    }
    if (read.kind === 'status') {
      if (textOf(arrived.payload)?.includes('"offline"') === true) this.#port.hubLeft(read.hubId);
      return;
    }
    if (read.kind === 'available') {
      this.#available(read, arrived);
      return;
    }
    if (arrived.isRetained) {
      this.#refuse('retained', 'payload: was stored by the broker, and may be of any age', topic);
      return;
    }
    const text = textOf(arrived.payload);
    if (text === undefined) this.#refuse('json', 'payload: must be JSON, found bytes that are not UTF-8', topic);
    else if (read.kind === 'broadcast') this.#broadcast(text, arrived);
    else if (read.kind === 'response') this.#port.answered(text, { method: read.method });
    else this.#request(read, text, topic);
  }

  #request({ method, handlerId, style }: RpcTopic & { readonly kind: 'request' }, text: string, topic: string): void {
    const { publish, style: own } = this.#deps;
    const problem = this.#port.call({
      text,
      method,
      ...(handlerId !== undefined && { handlerId }),
      respond: (callerId, response) => {
        const under = responseTopic(method, callerId, own === 'both' ? style : own);
        publish(under, Buffer.from(response), { lifeMs: RESPONSE_MS });
      },
    });
    if (problem !== undefined) this.#refuse('invalid', problem, topic);
  }

  #broadcast(text: string, { topic, payload }: ReceivedMessage): void {
    const parsed = parsedFrom(payload);
    if ('problem' in parsed) {
      this.#refuse('json', parsed.problem, topic);
      return;
    }
    const { value } = parsed;
    if (isObject(value)) this.#deps.broadcast(text);
    else this.#refuse('invalid', `payload: must be an object, found ${show(value)}`, topic);
  }

  #available(
    { method, style }: RpcTopic & { readonly kind: 'available' },
    { topic, payload, lifeMs }: ReceivedMessage,
  ): void {
    if (payload.length === 0) {
      this.#takenBack(method, topic);
      return;
    }
    const value = announcementIn(payload);
    if (typeof value === 'string') {
      this.#refuse('json', value, topic);
      return;
    }
    const { id, name = method, ...zone } = value;
    if (name !== method) {
      this.#refuse('id', `method_name: must be ${show(method)} as in the topic, found ${show(name)}`, topic);
      return;
    }
    if (this.#deps.rpc.isOwn(id)) return;
    this.#ownTopics.delete(topic);
    // Part of the lifetime of a retained announcement has already passed.
    const forMs = lifeMs === 0 ? AVAILABLE_MS : Math.min(lifeMs, AVAILABLE_MS);
    const problem = this.#port.announced({ method, id, ...zone }, forMs);
    if (problem !== undefined) {
      this.#refuse('invalid', problem, topic);
      return;
    }
    const styles = this.#styles.get(method) ?? new Map<string, Style>();
    this.#styles.set(method, styles.set(id, style));
  }

  #takenBack(method: string, topic: string): void {
    this.#ownTopics.delete(topic);
    const [only, ...others] = this.#port.handlersOf(method);
    if (only !== undefined && others.length === 0) this.#port.left({ method, id: only });
  }

  #forgetStyles(): void {
    for (const [method, styles] of this.#styles) {
      const known = new Set(this.#port.handlersOf(method));
      for (const id of styles.keys()) if (!known.has(id)) styles.delete(id);
      if (styles.size === 0) this.#styles.delete(method);
    }
  }

  #refuse(reason: Reason, problem: string, topic: string): void {
    this.refused[reason]++;
    this.#deps.problem(reason, problem, topic);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(payload: Uint8Array): string | undefined {
  try {
    return utf8.decode(payload);
  } catch {
    return undefined;
  }
}

/** Reads an announcement; returns the problem if it is invalid. */
function announcementIn(
  payload: Uint8Array,
): { readonly id: string; readonly name?: unknown; readonly zoneId?: string } | string {
  let value: unknown;
  try {
    value = JSON.parse(textOf(payload) ?? '');
  } catch {
    return 'payload: must be JSON in UTF-8';
  }
  const { id, method_name: name, zone_id: zoneId } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string' || id === '') return `id: must be a string that is not empty, found ${show(id)}`;
  return { id, name, ...(typeof zoneId === 'string' && { zoneId }) };
}
