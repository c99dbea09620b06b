import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSocket } from 'node:dgram';
import { connect, createServer } from 'node:net';
import { resolve } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { messageOf } from '../../errors.ts';
import { error, type Finding, type Machine, ok, warning } from './finding.ts';

const CONNECT_MS = 5000;
/** Smallest buffer of OPC UA, in bytes. */
const OPCUA_BUFFER = 8192;
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

/** Checks that the port of the OPC UA server is free, or that such a server listens on it. */
export async function checkOpcuaPort({ host, opcua_port: port }: Config): Promise<readonly Finding[]> {
  if (port === null) return [];
  const problem = await listeningProblem(host, port);
  if (problem === undefined) return [ok(`Port ${port} of ${host} is free for OPC UA`)];
  if (problem !== 'EADDRINUSE') {
    return [error(`Cannot listen on port ${port} of ${host} for OPC UA: ${problem}`, 'Change host or opcua_port')];
  }
  if (await answersAsOpcua(host, port)) {
    return [ok(`An OPC UA server runs on port ${port} of ${host}, probably that of this hub`)];
  }
  return [error(`Another program listens on port ${port} of ${host}`, 'Stop it, or change the setting opcua_port')];
}

/** Checks that the ports of sources of kind udp are free, or that a hub runs which may have opened them. */
export async function checkUdpPorts(config: Config): Promise<readonly Finding[]> {
  const { host, source_udp_ports: ports } = config;
  if (ports.length === 0) return [];
  const isRunning = (await listeningProblem(host, config.port)) === 'EADDRINUSE';
  return Promise.all(
    ports.map(async (port) => {
      const problem = await bindingProblem(port);
      if (problem === undefined) return ok(`UDP port ${port} is free`);
      if (problem === 'EADDRINUSE' && isRunning) return ok(`UDP port ${port} is in use, probably by this hub`);
      return error(`Cannot receive on UDP port ${port}: ${problem}`, 'Change source_udp_ports');
    }),
  );
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

/** Returns the code of the error with which a UDP port of all addresses cannot be bound; undefined if it can. */
function bindingProblem(port: number): Promise<string | undefined> {
  const socket = createSocket({ type: 'udp6', ipv6Only: false });
  return new Promise((settle) => {
    socket.once('error', (problem) => settle((problem as NodeJS.ErrnoException).code ?? problem.message));
    socket.bind({ port, exclusive: true }, () => socket.close(() => settle(undefined)));
  });
}

/** Whether a server acknowledges a Hello message of OPC UA over TCP (OPC 10000-6, 7.1.2.3), or rejects it in that protocol. */
function answersAsOpcua(host: string, port: number): Promise<boolean> {
  const url = Buffer.from(`opc.tcp://${addressFor(host)}:${port}`);
  const hello = Buffer.alloc(32);
  hello.write('HELF');
  hello.writeUInt32LE(hello.length + url.length, 4);
  // The protocol version 0, the sizes of both buffers, and no limit of messages and chunks.
  hello.writeUInt32LE(OPCUA_BUFFER, 12);
  hello.writeUInt32LE(OPCUA_BUFFER, 16);
  hello.writeUInt32LE(url.length, 28);
  return new Promise((settle) => {
    const socket = connect({ host: reachable(host), port }, () => socket.write(Buffer.concat([hello, url])));
    const end = (isServer: boolean): void => {
      socket.destroy();
      settle(isServer);
    };
    socket.setTimeout(CONNECT_MS, () => end(false));
    socket.once('data', (bytes) => end(/^(ACK|ERR)F/.test(bytes.toString('latin1'))));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
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

/** Returns the address at which a server on this host can be reached, as in a URL. */
function addressFor(host: string): string {
  const address = reachable(host);
  return address.includes(':') ? `[${address}]` : address;
}

/** The address at which a server that listens on this host can be reached. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
