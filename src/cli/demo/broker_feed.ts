import mqtt, { type MqttClient } from 'mqtt';
import type { MqttHealth } from '../../model/health.ts';
import { CliError } from '../command_error.ts';
import { type HubClient, isRefused } from '../hub_client.ts';
import type { Feed } from './feed.ts';

const LOCATIONS = '/omlox/json/location_updates/pub';
const PROXIMITIES = '/omlox/json/proximity_updates';
const CONNECT_MS = 10_000;
/** Maximum QoS 1 messages in flight in MQTT, if the broker sets no limit. */
const UNDER_WAY_MAX = 65_535;

type Message = readonly [topic: string, value: object];

/**
 * Publishes observations to the MQTT broker of the hub, with QoS 1. `address`: defaults to the broker that the hub is
 * connected to. Throws a CliError if the hub has no broker or no connection to it, or if the broker is unreachable.
 */
export async function brokerFeed(
  client: HubClient,
  {
    hub,
    address,
    signal,
  }: { readonly hub: string; readonly address: string | undefined; readonly signal: AbortSignal },
): Promise<Feed> {
  const own = await brokerOf(client, hub);
  return await connectTo(address ?? own, signal);
}

/** The broker that the hub is connected to. */
async function brokerOf(client: HubClient, hub: string): Promise<string> {
  const { ok, status, message, text } = await client.send('GET', '/health/mqtt');
  if (!ok) throw new CliError(`Cannot read the MQTT status of the hub at ${hub}: ${status} ${message}`);
  const { enabled, connected, broker = '', problem } = JSON.parse(text) as MqttHealth;
  if (!enabled) throw new CliError(`The hub at ${hub} has no MQTT broker: set mqtt_address`);
  if (connected !== true) {
    const why = problem === undefined ? '' : `: ${problem}`;
    throw new CliError(`The hub at ${hub} is not connected to its MQTT broker at ${broker}${why}`);
  }
  return broker;
}

async function connectTo(address: string, signal: AbortSignal): Promise<Feed> {
  const { protocol, host } = new URL(address);
  const to = `${protocol}//${host}`;
  const client = mqtt.connect(address, { protocolVersion: 5, reconnectPeriod: 0, connectTimeout: CONNECT_MS });
  const gone = Promise.withResolvers<never>();
  // Prevents an unhandled rejection while no promise is awaited.
  gone.promise.catch(() => undefined);
  signal.addEventListener('abort', () => gone.reject(signal.reason));
  client.on('error', (error) => gone.reject(unreachable(to, error)));
  client.on('close', () => gone.reject(new CliError(`The MQTT broker at ${to} has closed the connection`)));
  const connected = new Promise<number>((resolve) => {
    client.on('connect', ({ properties }) => resolve(properties?.receiveMaximum ?? UNDER_WAY_MAX));
  });
  const inFlightMax = await Promise.race([connected, gone.promise]);
  const publish = (messages: readonly Message[]): Promise<void> =>
    Promise.race([publishAll(client, { messages, inFlightMax }), gone.promise]);
  return {
    to,
    locations: (all) => publish(all.map((each) => [`${LOCATIONS}/${each.provider_id}`, each])),
    proximities: (all) => publish(all.map((each) => [`${PROXIMITIES}/${each.source}/${each.provider_id}`, each])),
    close: () => client.endAsync(true),
  };
}

async function publishAll(
  client: MqttClient,
  { messages, inFlightMax }: { readonly messages: readonly Message[]; readonly inFlightMax: number },
): Promise<void> {
  for (let at = 0; at < messages.length; at += inFlightMax) {
    const some = messages.slice(at, at + inFlightMax);
    await Promise.all(some.map((message) => publishOne(client, message)));
  }
}

async function publishOne(client: MqttClient, [topic, value]: Message): Promise<void> {
  try {
    await client.publishAsync(topic, JSON.stringify(value), { qos: 1 });
  } catch (error) {
    throw new CliError(`The MQTT broker rejects ${topic} of the demo: ${(error as Error).message}`);
  }
}

function unreachable(address: string, error: Error): CliError {
  const hint = isRefused(error) ? ': is it running? npm run mosquitto starts one' : `: ${error.message}`;
  return new CliError(`Cannot reach the MQTT broker at ${address}${hint}`, { cause: error });
}
