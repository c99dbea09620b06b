import { sharedClock } from '../process/clock.ts';
import { type Commands, note, serve } from '../process/remote.ts';
import type { Connection } from './connection.ts';
import { type Feed, MovingFeed } from './feed.ts';
import { HttpConnection } from './http_connection.ts';
import { MqttConnection } from './mqtt_connection.ts';
import type { Plan } from './plan.ts';
import { RecordingFeed } from './recording_feed.ts';
import { RespConnection } from './resp_connection.ts';
import { type Interval, Sender, type Sent, type Tally } from './sender.ts';
import { WsConnection } from './ws_connection.ts';

/** The load generator, a separate process. The argument is the offset of the shared clock. */
const nowUs = sharedClock(Number(process.argv[2]));
const senders = new Map<number, { readonly sender: Sender; readonly connections: readonly Connection[] }>();

const commands = {
  /** Connects to a server for a plan. Returns the number of locations per message. */
  async open({ plan, port }: { plan: Plan; port: number }): Promise<void> {
    const connections = await Promise.all(Array.from({ length: plan.connections }, () => connectionTo(port, plan)));
    senders.set(port, { sender: new Sender(makeFeed(plan), { connections, nowUs }), connections });
  },
  prime: ({ port }: { port: number }): Promise<Tally> => senderTo(port).prime(),
  run: ({ port, interval }: { port: number; interval: Interval }): Promise<Sent> =>
    senderTo(port).run(interval, (is) => note({ measuring: is })),
  close({ port }: { port: number }): void {
    for (const connection of senders.get(port)?.connections ?? []) connection.close();
    senders.delete(port);
  },
} satisfies Commands;

export type GeneratorCommands = typeof commands;

function connectionTo(port: number, { way }: Plan): Promise<Connection> {
  if (way === 'resp') return RespConnection.open(port);
  if (way === 'mqtt-one' || way === 'mqtt-many') return MqttConnection.open(port);
  return way === 'ws' ? WsConnection.open(port) : HttpConnection.open(port);
}

/** Each server has its own feed, because the next location of a provider depends on the previous one. */
function makeFeed(plan: Plan): Feed {
  return plan.kind === 'recording' ? new RecordingFeed(plan) : new MovingFeed(plan);
}

function senderTo(port: number): Sender {
  const found = senders.get(port);
  if (found === undefined) throw new Error(`There is no connection to port ${port}`);
  return found.sender;
}

serve(commands);
