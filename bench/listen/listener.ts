import type { Percentiles } from '../load/latencies.ts';
import { sharedClock } from '../process/clock.ts';
import { type Commands, serve } from '../process/remote.ts';
import { EventCounter, MARKS, type Marks } from './counter.ts';
import { TEXT } from './frame_parser.ts';
import { MqttSubscriber } from './mqtt_subscriber.ts';
import { PushClient, PushCounter } from './push_client.ts';
import { WebSocketClient } from './web_socket.ts';

/** Subscribers in a separate process. The argument is the offset of the shared clock. */
const nowUs = sharedClock(Number(process.argv[2]));

/** Connections with one subscription each, counted together. */
export interface Group {
  readonly name: string;
  readonly topic: string;
  /** One connection for each; `{}` has no filters. */
  readonly params: readonly Readonly<Record<string, unknown>>[];
  /** Whether the age of every event is measured, and not only that of the first of each frame. */
  readonly agesOfAll?: boolean;
  /** Topic filter of a subscription at an MQTT broker, instead of one at the hub. */
  readonly filter?: string;
}

/** Events that a group has received since it subscribed; latencies since the last reset. */
export interface Received {
  readonly objects: number;
  readonly frames: number;
  readonly bytes: number;
  readonly latency: Percentiles;
  /** Of the events with the time that is measured apart: exits, among fence events of the hub. */
  readonly latencyApart: Percentiles;
  /** Connections that the hub has closed. */
  readonly closed: number;
}

interface Listening {
  readonly counter: EventCounter | PushCounter;
  readonly clients: readonly (WebSocketClient | PushClient | MqttSubscriber)[];
}

const groups = new Map<string, Listening>();

const commands = {
  /** Subscribes a group at the port of the hub or of the broker. Resolves when all subscriptions are confirmed. */
  async subscribe({ port, group }: { port: number; group: Group }): Promise<void> {
    const { name, topic, filter, agesOfAll = false } = group;
    const counter = new EventCounter(MARKS[topic] as Marks, nowUs, { agesOfAll });
    const open = (params: Group['params'][number]): Promise<WebSocketClient | MqttSubscriber> => {
      if (filter !== undefined) return MqttSubscriber.open(port, filter, counter);
      return subscriber(port, { topic, params, counter });
    };
    groups.set(name, { counter, clients: await Promise.all(group.params.map(open)) });
  },
  /** Subscribes to all fences of a Tile38, as a group with this name. */
  async subscribeToTile38({ port, name }: { port: number; name: string }): Promise<void> {
    const counter = new PushCounter(nowUs);
    groups.set(name, { counter, clients: [await PushClient.open(port, counter)] });
  },
  /** Stops reading. */
  pause({ name }: { name: string }): void {
    for (const client of groups.get(name)?.clients ?? []) client.pause();
  },
  close({ name }: { name: string }): void {
    for (const client of groups.get(name)?.clients ?? []) client.close();
    groups.delete(name);
  },
  resetLatencies(_: undefined): void {
    for (const { counter } of groups.values()) {
      counter.latencies.reset();
      counter.latenciesApart.reset();
    }
  },
  received: (_: undefined): Record<string, Received> =>
    Object.fromEntries(Array.from(groups, ([name, listening]) => [name, receivedBy(listening)])),
} satisfies Commands;

export type ListenerCommands = typeof commands;

function receivedBy({ counter, clients }: Listening): Received {
  const { objects, frames, bytes, latencies, latenciesApart } = counter;
  const closed = clients.filter(({ closeCode }) => closeCode !== 0).length;
  const latency = { latency: latencies.percentiles(), latencyApart: latenciesApart.percentiles() };
  return { objects, frames, bytes, ...latency, closed };
}

interface Subscription {
  readonly topic: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly counter: EventCounter;
}

async function subscriber(port: number, { topic, params, counter }: Subscription): Promise<WebSocketClient> {
  let confirm: (() => void) | undefined;
  const confirmed = new Promise<void>((resolve) => {
    confirm = resolve;
  });
  const client = await WebSocketClient.open(port, (opcode, payload) => {
    if (opcode !== TEXT) return;
    if (confirm === undefined) counter.frame(payload);
    else if (payload.includes('"event":"subscribed"')) {
      confirm();
      confirm = undefined;
    } else throw new Error(`Cannot subscribe to ${topic}: ${payload}`);
  });
  client.send(JSON.stringify({ event: 'subscribe', topic, params }));
  await confirmed;
  return client;
}

serve(commands);
