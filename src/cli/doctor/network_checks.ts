import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { resolve } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { messageOf } from '../../errors.ts';
import { error, type Finding, type Machine, ok, warning } from './finding.ts';

const CONNECT_MS = 5000;
const DAY_MS = 86_400_000;
/** A certificate that is to be renewed soon is a warning. */
const EXPIRES_MS = 30 * DAY_MS;

/** Checks that the port is free, or that this hub listens on it. */
export async function checkPort({ host, port, public_key_path }: Config): Promise<readonly Finding[]> {
  if (port === 0) return [ok('The hub listens on any free port')];
  const problem = await listeningProblem(host, port);
  if (problem === undefined) return [ok(`Port ${port} of ${host} is free`)];
  if (problem !== 'EADDRINUSE') {
    const advice =
      'Change host or port. A port below 1024 needs a privilege, and a host must be an address of this machine';
    return [error(`Cannot listen on port ${port} of ${host}: ${problem}`, advice)];
  }
  const scheme = public_key_path === null ? 'http' : 'https';
  const isHub = scheme === 'https' || (await answersAsHub(`http://${addressFor(host)}:${port}/health`));
  if (isHub) return [ok(`A server runs on port ${port} of ${host}, probably this hub`)];
  return [error(`Another program listens on port ${port} of ${host}`, 'Stop it, or change the setting port')];
}

/** Checks the certificate and key of the hub. */
export async function checkCertificate(config: Config, { nowMs }: Machine): Promise<readonly Finding[]> {
  const { config_path, public_key_path, private_key_path, private_key_password } = config;
  if (public_key_path === null || private_key_path === null) return [];
  const file = resolve(config_path, public_key_path);
  try {
    const certificate = new X509Certificate(readFileSync(file));
    const key = createPrivateKey({
      key: readFileSync(resolve(config_path, private_key_path)),
      ...(private_key_password === null ? {} : { passphrase: private_key_password }),
    });
    if (!certificate.checkPrivateKey(key)) {
      return [error(`The key ${private_key_path} is not that of the certificate ${file}`, 'Change private_key_path')];
    }
    const untilMs = Date.parse(certificate.validTo);
    const until = `The certificate ${file} is valid until ${new Date(untilMs).toISOString().slice(0, 10)}`;
    if (untilMs < nowMs) return [error(until, 'Renew it: clients reject the connection')];
    if (Date.parse(certificate.validFrom) > nowMs) {
      return [error(`The certificate ${file} is not valid before ${certificate.validFrom}`, 'Check the clock')];
    }
    return untilMs - nowMs < EXPIRES_MS ? [warning(until, 'Renew it soon')] : [ok(until)];
  } catch (problem) {
    const advice = 'public_key_path and private_key_path must name readable PEM files';
    return [error(`Cannot read the certificate ${file} and its key: ${messageOf(problem)}`, advice)];
  }
}

/** Checks that the MQTT broker, the NATS servers and the wide-column database accept connections. */
export async function checkServers(config: Config): Promise<readonly Finding[]> {
  const { mqtt_address, mqtt_port, cluster_servers, db_type, widecolumn_hosts, widecolumn_port } = config;
  const broker =
    mqtt_address === null ? [] : [{ what: 'MQTT broker', host: mqtt_address, port: mqtt_port, by: 'mqtt_address' }];
  const nats = cluster_servers.map((address) => {
    const { hostname, port } = new URL(address);
    return { what: 'NATS server', host: hostname, port: port === '' ? 4222 : Number(port), by: 'cluster_servers' };
  });
  const databases = db_type === 'sqlite' ? [] : widecolumn_hosts;
  const cassandra = databases.map((host) => {
    return { what: 'database', host, port: widecolumn_port, by: 'widecolumn_hosts' };
  });
  return Promise.all(
    [...broker, ...nats, ...cassandra].map(async ({ what, host, port, by }) => {
      const problem = await connectionProblem(host, port);
      if (problem === undefined) return ok(`The ${what} ${host}:${port} accepts connections`);
      return error(
        `Cannot connect to the ${what} ${host}:${port}: ${problem}`,
        `Start it, open the firewall, or change ${by}`,
      );
    }),
  );
}

/** Checks that the identity server answers, and has the members that the hub reads. */
export async function checkIdentityServer(config: Config): Promise<readonly Finding[]> {
  const { require_authorization, openid_config_url: url, verify_authserver } = config;
  if (!require_authorization) {
    const advice = 'Every client that reaches the port may change everything. Set require_authorization, or limit host';
    return config.host === '127.0.0.1' || config.host === 'localhost'
      ? [ok('No authorization is required, and only this machine reaches the hub')]
      : [warning(`No authorization is required on ${config.host}`, advice)];
  }
  if (url === null) return [ok('Authorization is required, by API keys alone')];
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(CONNECT_MS) });
    const { issuer, jwks_uri } = (await reply.json()) as { issuer?: unknown; jwks_uri?: unknown };
    if (reply.ok && typeof issuer === 'string' && typeof jwks_uri === 'string') {
      return [ok(`The identity server ${issuer} answers`)];
    }
    return [error(`${url} is no OpenID configuration: it answers ${reply.status}`, 'Change openid_config_url')];
  } catch (problem) {
    const reason = messageOf((problem as Error).cause ?? problem);
    if (!verify_authserver || config.authserver_public_key_path !== null) {
      return [warning(`Cannot read ${url} without its own certificate: ${reason}`, 'See the log of the hub')];
    }
    return [error(`Cannot read ${url}: ${reason}`, 'Start the identity server, or change openid_config_url')];
  }
}

/** Returns the code of the error that listening fails with; undefined if it succeeds. */
function listeningProblem(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  return new Promise((settle) => {
    server.once('error', (problem) => settle((problem as NodeJS.ErrnoException).code ?? problem.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => settle(undefined)));
  });
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

async function answersAsHub(url: string): Promise<boolean> {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(CONNECT_MS) });
    return (reply.status === 200 || reply.status === 503) && typeof (await reply.json()) === 'object';
  } catch {
    return false;
  }
}

/** Returns an address at which a server on this host can be reached. */
function addressFor(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
