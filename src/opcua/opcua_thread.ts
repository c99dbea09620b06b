import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { MessageSecurityMode, SecurityPolicy } from 'node-opcua-secure-channel';
import { OPCUAServer, type ServerSession } from 'node-opcua-server';
import { openSecurity, type ServerSecurity } from './certificates.ts';
import type { FromOpcuaThread, OpcuaSettings, OpcuaThreadData, ToOpcuaThread } from './messages.ts';
import { positioningNodesets } from './positioning_models.ts';
import { SettingProblem } from './setting_problem.ts';
import { type Motion, readMotion, type TrackablePosition } from './site_facts.ts';
import { NODES_MAX, SAMPLING_MIN_MS, SiteNodes } from './site_nodes.ts';

/** Environment of the thread. */
export interface OpcuaThreadDeps {
  post(message: FromOpcuaThread): void;
  /** Calls `callback` at every interval. Returns a function that cancels it. */
  every(intervalMs: number, callback: () => void): () => void;
  /** Wall-clock time. */
  now(): number;
}

/** Bounds of what clients may open. */
const BOUNDS = {
  maxSessions: 50,
  maxSubscriptions: 500,
  maxSubscriptionsPerSession: 50,
  maxMonitoredItems: 200_000,
  maxMonitoredItemsPerSubscription: 50_000,
  minSupportedSampleRate: SAMPLING_MIN_MS,
};
const CONNECTIONS_MAX = 100;
/** Security of connections, the least of which is a setting. */
const MODES = ['None', 'Sign', 'SignAndEncrypt'] as const;
const POLICIES = [
  SecurityPolicy.Basic256Sha256,
  SecurityPolicy.Aes128_Sha256_RsaOaep,
  SecurityPolicy.Aes256_Sha256_RsaPss,
];
/** Reason of a session that the server closes. */
const TERMINATED = 'Terminated';

/** Thread side of the OPC UA server: the server, and the nodes of zones and trackables. */
export class OpcuaThread {
  readonly #data: OpcuaThreadData;
  readonly #deps: OpcuaThreadDeps;
  #server: OPCUAServer | undefined;
  #nodes: SiteNodes | undefined;
  /** Messages received before the address space exists. */
  #early: ToOpcuaThread[] = [];
  /** Positions that are not in the address space yet, the last one of each trackable. */
  #moved = new Map<string, TrackablePosition>();
  readonly #sessions = new Map<number, ServerSession>();
  readonly #logins = new Map<number, (isPermitted: boolean) => void>();
  #lastLogin = 0;
  #stopMoving = (): void => undefined;
  readonly #warned = new Set<string>();

  constructor(data: OpcuaThreadData, deps: OpcuaThreadDeps) {
    this.#data = data;
    this.#deps = deps;
  }

  /** Starts the server, and reports whether it listens. Never rejects. */
  async start(): Promise<void> {
    try {
      const server = await this.#open();
      this.#server = server;
      await server.start();
      this.#deps.post({ say: 'listening', url: server.getEndpointUrl() });
    } catch (error) {
      const { message } = error as Error;
      const setting = error instanceof SettingProblem ? error.setting : settingOf(error);
      this.#deps.post({ say: 'failed', problem: message, setting });
    }
  }

  readonly take = (message: ToOpcuaThread): void => {
    if (this.#nodes === undefined && message.say !== 'close') this.#early.push(message);
    else this.#handle(message);
  };

  async #open(): Promise<OPCUAServer> {
    const { settings, hubId, version, needsUser } = this.#data;
    const name = nameOf(settings.host);
    const hosts = [...new Set([name, hostname(), 'localhost', '127.0.0.1'])];
    const security = await openSecurity(settings, { uri: `urn:location-hub:${hubId}`, hosts }, this.#deps.now);
    const server = new OPCUAServer({
      ...endpoint(settings, security),
      hostname: name,
      nodesets: [standardNodeset(), ...positioningNodesets().map((source, n) => ({ name: `model ${n}`, source }))],
      serverInfo: {
        applicationUri: security.uri,
        productUri: 'urn:location-hub',
        applicationName: { text: 'Location hub' },
      },
      buildInfo: { productName: 'Location hub', softwareVersion: version, buildNumber: version, manufacturerName: '' },
      serverCapabilities: BOUNDS,
      allowAnonymous: !needsUser,
      isAuditing: false,
    });
    server.userManager.isValidUser = (session, _user, password) =>
      new Promise((resolve) => this.#login(session, password, resolve));
    await server.initialize();
    const space = server.engine.addressSpace;
    if (space === null) throw new Error('the server has no address space');
    this.#nodes = new SiteNodes(space as never);
    for (const message of this.#early.splice(0)) this.#handle(message);
    this.#stopMoving = this.#deps.every(SAMPLING_MIN_MS, () => this.#move());
    server.on('session_closed', (session) => this.#logout(session));
    return server;
  }

  #handle(message: ToOpcuaThread): void {
    const nodes = this.#nodes as SiteNodes;
    switch (message.say) {
      case 'zones':
        for (const id of message.deleted) nodes.removeZone(id);
        for (const zone of message.changed) if (!nodes.setZone(zone)) this.#warnOfMany('zones');
        return;
      case 'trackables':
        for (const id of message.deleted) nodes.removeTrackable(id);
        for (const each of message.changed) if (!nodes.setTrackable(each)) this.#warnOfMany('trackables');
        return;
      case 'motions':
        this.#read(message);
        return;
      case 'login':
        this.#logins.get(message.login)?.(message.isPermitted);
        return;
      case 'expel':
        this.#expel(message.login);
        return;
      case 'close':
        void this.#close();
    }
  }

  #warnOfMany(kind: string): void {
    if (this.#warned.has(kind)) return;
    this.#warned.add(kind);
    this.#deps.post({ say: 'notice', text: `OPC UA clients do not get all ${kind}: the maximum is ${NODES_MAX}` });
  }

  /** hot */
  #read({ bytes, ends, isSnapshot }: Extract<ToOpcuaThread, { say: 'motions' }>): void {
    let start = 0;
    for (const end of ends) {
      const motion = readMotion(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString());
      if (motion !== undefined && !(isSnapshot && this.#isNewer(motion))) this.#moved.set(motion.id, motion.position);
      start = end + 1;
    }
    this.#deps.post({ say: 'taken', bytes: bytes.length });
  }

  /** Whether the position that clients read, or will read, is newer. */
  #isNewer({ id, position }: Motion): boolean {
    const known = this.#moved.get(id)?.at ?? this.#nodes?.timeOf(id);
    return known !== undefined && known >= position.at;
  }

  #move(): void {
    const moved = this.#moved;
    if (moved.size === 0) return;
    this.#moved = new Map();
    for (const [id, position] of moved) this.#nodes?.move(id, position);
  }

  /** Asks the hub whether a session may read everything. */
  #login(session: ServerSession, password: string, answer: (isPermitted: boolean) => void): void {
    const login = ++this.#lastLogin;
    this.#logins.set(login, (isPermitted) => {
      this.#logins.delete(login);
      // A session may change its user.
      if (isPermitted) {
        this.#logout(session);
        this.#sessions.set(login, session);
      }
      answer(isPermitted);
    });
    this.#deps.post({ say: 'login', login, password });
  }

  #logout(session: ServerSession): void {
    for (const [login, other] of this.#sessions) {
      if (other !== session) continue;
      this.#sessions.delete(login);
      this.#deps.post({ say: 'logout', login });
    }
  }

  #expel(login: number): void {
    const session = this.#sessions.get(login);
    if (session === undefined) return;
    this.#server?.engine.closeSession(session.authenticationToken, true, TERMINATED);
  }

  async #close(): Promise<void> {
    this.#stopMoving();
    await this.#server?.shutdown(0).catch(() => undefined);
    this.#deps.post({ say: 'closed' });
  }
}

/** Returns where and how the server listens. */
function endpoint({ host, port, mode }: OpcuaSettings, { clients, users, certificatePath, keyPath }: ServerSecurity) {
  const modes = MODES.slice(MODES.indexOf(mode));
  return {
    host,
    port,
    certificateFile: certificatePath,
    privateKeyFile: keyPath,
    serverCertificateManager: clients,
    userCertificateManager: users,
    securityModes: modes.map((each) => MessageSecurityMode[each]),
    securityPolicies: mode === 'None' ? [SecurityPolicy.None, ...POLICIES] : POLICIES,
    maxConnectionsPerEndpoint: CONNECTIONS_MAX,
  };
}

/** Returns the name by which clients reach an address to listen on. */
function nameOf(host: string): string {
  return host === '0.0.0.0' || host === '::' ? hostname() : host;
}

/** The standard nodes, as the bundles and the sources find them. */
function standardNodeset(): string {
  return fileURLToPath(import.meta.resolve('node-opcua-nodesets/nodesets/Opc.Ua.NodeSet2.ndjson.gz'));
}

/** Returns the setting that an error of the system is about. */
function settingOf(error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EADDRINUSE' || code === 'EACCES' || code === 'EADDRNOTAVAIL' ? 'opcua_port' : undefined;
}
