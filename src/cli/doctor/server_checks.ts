import { connect } from 'node:net';
import { hostname } from 'node:os';
import type { Config } from '../../config/schema.ts';
import { clusterSettings, mqttSettings, storeTarget } from '../../config/settings.ts';
import { messageOf } from '../../errors.ts';
import { error, type Finding, ok } from './finding.ts';

const CONNECT_MS = 5000;

/** Checks that the MQTT broker accepts a connection with the login of the hub. */
export async function checkBroker(config: Config): Promise<readonly Finding[]> {
  const settings = mqttSettings(config, { hubId: String(process.pid), hubName: undefined });
  if (settings === undefined) return [];
  const { broker } = settings;
  const what = `MQTT broker ${broker.host}:${broker.port}`;
  const unreachable = await connectionProblem(broker.host, broker.port);
  if (unreachable !== undefined) return [cannotConnect(what, unreachable, 'mqtt_address')];
  const { connectBroker } = await import('../../mqtt/broker_connection.ts');
  // With the id of the hub, the broker would close the connection of a hub that runs, and forget its session.
  const clientId = `${broker.clientId}-doctor`;
  const problem = await new Promise<string | undefined>((settle) => {
    let isAccepted = false;
    const connection = connectBroker(
      { ...broker, clientId },
      { subscriptions: [], keepsSession: false, will: undefined },
      {
        up() {
          isAccepted = true;
          void connection.end();
        },
        down: (why) => settle(isAccepted ? undefined : why),
        message: () => undefined,
        room: () => undefined,
        notice: () => undefined,
      },
    );
  });
  return problem === undefined
    ? [ok(`The ${what} accepts the hub`)]
    : [error(`The ${what} does not accept the hub: ${problem}`, 'Change the settings that begin with mqtt_')];
}

/** Checks that each NATS server accepts the login of the hub, and offers JetStream. */
export async function checkNats(config: Config): Promise<readonly Finding[]> {
  const settings = clusterSettings(config, hostname());
  if (settings === undefined) return [];
  const { probeServer } = await import('../../cluster/nats/connection.ts');
  return Promise.all(
    settings.bus.servers.map(async (server) => {
      const { hostname: host, port } = new URL(server);
      const what = `NATS server ${host}:${port === '' ? 4222 : port}`;
      const unreachable = await connectionProblem(host, port === '' ? 4222 : Number(port));
      if (unreachable !== undefined) return cannotConnect(what, unreachable, 'cluster_servers');
      try {
        await probeServer(settings.bus, server);
        return ok(`The ${what} accepts the hub, and offers JetStream`);
      } catch (problem) {
        const advice = 'Change the settings that begin with cluster_, or the permissions of that user';
        return error(`The ${what} cannot be used: ${messageOf(problem)}`, advice);
      }
    }),
  );
}

/** Checks that the wide-column database accepts the login of the hub. */
export async function checkDatabase(config: Config): Promise<readonly Finding[]> {
  const target = storeTarget(config, 0);
  if ('path' in target) return [];
  const findings = await Promise.all(
    target.hosts.map(async (host) => {
      const unreachable = await connectionProblem(host, target.port);
      const what = `database ${host}:${target.port}`;
      return unreachable === undefined ? undefined : cannotConnect(what, unreachable, 'widecolumn_hosts');
    }),
  );
  const cannot = findings.filter((finding) => finding !== undefined);
  if (cannot.length === target.hosts.length) return cannot;
  const { probe } = await import('../../store/widecolumn/connect.ts');
  const { asStartupError } = await import('../../store/widecolumn/failures.ts');
  try {
    return [...cannot, ok(`The database accepts the hub, and has version ${await probe(target)}`)];
  } catch (problem) {
    const advice = 'Change the settings that begin with widecolumn_';
    return [...cannot, error(asStartupError(problem, target).message, advice)];
  }
}

function cannotConnect(what: string, problem: string, setting: string): Finding {
  return error(`Cannot connect to the ${what}: ${problem}`, `Start it, open the firewall, or change ${setting}`);
}

/** Returns why no TCP connection is possible; undefined if one is. */
function connectionProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((settle) => {
    const socket = connect({ host, port });
    const end = (problem: string | undefined): void => {
      socket.destroy();
      settle(problem);
    };
    socket.setTimeout(CONNECT_MS, () => end(`no answer within ${CONNECT_MS / 1000} s`));
    socket.once('connect', () => end(undefined));
    socket.once('error', (problem) => end((problem as NodeJS.ErrnoException).code ?? problem.message));
  });
}
