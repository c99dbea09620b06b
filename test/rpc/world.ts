import { readSocketCall } from '../../src/rpc/call.ts';
import type { Announced, Carrier, ForwardedRequest } from '../../src/rpc/carrier.ts';
import type { RpcAnswer } from '../../src/rpc/message.ts';
import { type ClientPort, Rpc, type RpcOptions } from '../../src/rpc/rpc.ts';

/** A simulated clock with timers. */
export class ManualClock {
  nowMs = 0;
  #timers: { readonly atMs: number; readonly callback: () => void }[] = [];

  readonly elapsed = (): number => this.nowMs;

  readonly schedule = (delayMs: number, callback: () => void): (() => void) => {
    const timer = { atMs: this.nowMs + delayMs, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  get timers(): number {
    return this.#timers.length;
  }

  advance(byMs: number): void {
    const toMs = this.nowMs + byMs;
    for (;;) {
      const [next] = this.#timers.toSorted((a, b) => a.atMs - b.atMs);
      if (next === undefined || next.atMs > toMs) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.nowMs = next.atMs;
      next.callback();
    }
    this.nowMs = toMs;
  }
}

/** Calls with a simulated clock, as the hub "hub-1". */
export function openRpc(options: Partial<RpcOptions> = {}) {
  const clock = new ManualClock();
  let ids = 0;
  const rpc = new Rpc({
    hubId: 'hub-1',
    identity: {
      name: 'test',
      hub_id: 'id',
      hub_name: 'test',
      vendor: 'vendor',
      version: '1.2.3',
      api_version: '2.0.0',
    },
    elapsed: clock.elapsed,
    schedule: clock.schedule,
    newId: () => `${++ids}`,
    ...options,
  });
  return { rpc, clock };
}

/** A WebSocket client that records received frames. */
export function client(rpc: Rpc, ...methods: readonly string[]) {
  const frames: Record<string, unknown>[] = [];
  const port: ClientPort = rpc.connect((frame) => void frames.push(JSON.parse(frame)));
  for (const method of methods) port.register(method, undefined);
  const answer = (said: object, index = frames.length - 1): boolean =>
    port.answered({ jsonrpc: '2.0', id: frames[index]?.['id'], ...said }, 0);
  return { port, frames, answer };
}

/** A call of a client, and its responses. */
export function begin(rpc: Rpc, request: object, client?: string) {
  const reported: RpcAnswer[] = [];
  let isOver = false;
  const call = readSocketCall({ jsonrpc: '2.0', id: 7, ...request });
  const over = (): void => {
    isOver = true;
  };
  const open = rpc.begin(call, { respond: (answer) => void reported.push(answer), over }, client);
  return {
    reported,
    open,
    get isOver() {
      return isOver;
    },
  };
}

/** A carrier that records its output. */
export function carrier(rpc: Rpc, { reaches = true, name = 'mqtt' } = {}) {
  const sent: ForwardedRequest[] = [];
  let isUp = reaches;
  const announced = new Set<string>();
  const keyOf = ({ method, id }: Announced): string => `${method} ${id}`;
  const made: Carrier = {
    name,
    isUp: () => isUp,
    send(request) {
      if (isUp) sent.push(request);
      return isUp;
    },
    announce: (handler) => void announced.add(keyOf(handler)),
    withdraw: (handler) => void announced.delete(keyOf(handler)),
  };
  const turn = (on: boolean): void => {
    isUp = on;
  };
  return { port: rpc.attach(made), sent, announced, turn };
}
