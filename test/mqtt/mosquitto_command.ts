import { once } from 'node:events';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { Broker, whyNo } from './brokers.ts';
import { DocumentedBroker } from './documented_broker.ts';

const USAGE = 'npm run mosquitto -- [--port NUMBER] [--password]';
const INSTALL = 'install it, with apt-get install mosquitto mosquitto-clients or brew install mosquitto';

/**
 * `npm run mosquitto`: runs a mosquitto on 127.0.0.1 until Ctrl-C, and prints commands that use it. With `--password`
 * it has the users and rules of docs/mqtt.md; otherwise access is anonymous and unrestricted.
 */
async function main(args: readonly string[]): Promise<void> {
  const { port, password } = optionsOf(args);
  if ((await whyNo('mosquitto')) !== undefined) throw new Error(`There is no mosquitto: ${INSTALL}`);
  await refuseIfTaken(port);
  const documented = password ? new DocumentedBroker() : undefined;
  process.on('exit', () => documented?.close());
  const broker = await Broker.start('mosquitto', { port, ...(documented && { lines: documented.lines }) });
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    void broker.close().then(() => process.exit(0));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  process.stdout.write(`${linesFor(broker, documented)}\n`);
  await broker.ended();
  if (!isStopped) throw new Error(`mosquitto has exited: ${broker.log.trim()}`);
}

function optionsOf(args: readonly string[]): { readonly port: number; readonly password: boolean } {
  const options = { port: { type: 'string', default: '1883' }, password: { type: 'boolean', default: false } } as const;
  const { port: text, password } = parseArgs({ args: [...args], options }).values;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Error(`--port: must be a whole number from 1 to 65535, found ${text}\n${USAGE}`);
  }
  return { port, password };
}

async function refuseIfTaken(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`--port: cannot listen on 127.0.0.1:${port} (${code}): choose another one\n${USAGE}`);
  }
  server.close();
  await once(server, 'close');
}

/** Commands to paste. */
function linesFor({ port, webSocketPort }: Broker, documented: DocumentedBroker | undefined): string {
  const login = (user: string, as: (username: string, password: string) => readonly string[]): readonly string[] => {
    if (documented === undefined) return [];
    const { username, password } = documented.login(user);
    return as(username, password);
  };
  const address = [`HUB_MQTT_ADDRESS=127.0.0.1`, `HUB_MQTT_PORT=${port}`];
  const environment = [
    ...address,
    ...login('hub', (name, word) => [`HUB_MQTT_USER=${name}`, `HUB_MQTT_PASSWORD=${word}`]),
  ];
  const settings = environment.map((line) => line.slice('HUB_'.length).replace('=', ': '));
  const client = (user: string): string =>
    ['-h 127.0.0.1', `-p ${port}`, ...login(user, (name, word) => [`-u ${name}`, `-P ${word}`])].join(' ');
  const location = JSON.stringify({
    provider_type: 'uwb',
    source: 'site',
    crs: 'EPSG:4326',
    position: { type: 'Point', coordinates: [8.6821, 50.1109] },
  });
  return `mosquitto is running on 127.0.0.1:${port}, and by WebSocket on 127.0.0.1:${webSocketPort}

A hub as its client:
  ${environment.join(' ')} npm start
the same in hub_config.yaml:
  ${settings.map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase())).join('\n  ')}
Hear what it publishes:
  mosquitto_sub ${client('display')} -v -t '/omlox/json/#' -t 'flowcate/json/#'
Publish a location:
  mosquitto_pub ${client('uwb-1')} -q 1 -t /omlox/json/location_updates/pub/uwb-1 -m '${location}'
Press Ctrl-C to stop.`;
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
});
