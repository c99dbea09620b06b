import { Worker } from 'node:worker_threads';
import { StartupError } from '../errors.ts';
import { DeliveryBatch } from '../fanout/batch.ts';
import type { Fanout } from '../fanout/fanout.ts';
import type { FilterFields } from '../model/topics.ts';
import type { Trackable } from '../model/trackable.ts';
import type { Zone } from '../model/zone.ts';
import { Expiry } from '../socket/expiry.ts';
import type { FromOpcuaThread, OpcuaSettings, OpcuaThreadData, ToOpcuaThread } from './messages.ts';
import { trackableFacts, zoneFacts } from './site_facts.ts';

/** End of a permission. */
interface Permission {
  /** Milliseconds since 1970. */
  readonly expiresMs: number;
  readonly revoked?: AbortSignal | undefined;
}

export interface OpcuaDeps {
  readonly fanout: Pick<Fanout, 'listen' | 'subscribe' | 'unsubscribe'>;
  zones(): readonly Zone[];
  zone(id: string): Zone | undefined;
  trackables(): readonly Trackable[];
  trackable(id: string): Trackable | undefined;
  /** Returns the last motions of all trackables as JSON, in EPSG:4326. */
  motions(): Promise<readonly string[]>;
  /** Rejects if a token does not permit to read all zones and motions. Undefined: the hub requires no authorization. */
  readonly permit: ((token: string) => Promise<Permission>) | undefined;
  readonly hubId: string;
  readonly version: string;
  now(): number;
  /** Schedules `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
  readonly log: {
    debug(message: string, facts?: object): void;
    info(message: string, facts?: object): void;
    warn(message: string, facts?: object): void;
  };
}

const OPCUA_WORKER = new URL('../../workers/opcua.ts', import.meta.url);
const HEAP_MB = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 };
const WGS84 = { crs: 'EPSG:4326' };
/** Changed entities are sent together after this delay. */
const CHANGES_MS = 100;
/** Maximum bytes of motions in transit to the thread. Beyond it motions are dropped, and all are read again later. */
const IN_TRANSIT_MAX = 16 << 20;
/** Minimum and maximum delay before a thread that has failed is replaced. */
const [RESTART_MIN_MS, RESTART_MAX_MS] = [1000, 60_000] as const;
const NOT_INSTALLED =
  'needs packages that npm start does not install; run "npm ci", or use an npm or Linux package of the hub';
/** Maximum time to close, after which the thread is terminated. */
const CLOSE_MS = 5000;

/**
 * The OPC UA server of the hub. It runs in its own thread (opcua_thread.ts), which is replaced when it fails. This side
 * sends it entities and motions, and decides which users may read.
 */
export class Opcua {
  readonly #settings: OpcuaSettings;
  readonly #deps: OpcuaDeps;
  readonly #changed = { zone: new Set<string>(), trackable: new Set<string>() };
  readonly #ends: (() => void)[] = [];
  readonly #expiry: Expiry;
  #worker: Worker | undefined;
  #inTransit = 0;
  /** Whether motions were dropped. */
  #isBehind = false;
  #isFollowing = false;
  #restartMs: number = RESTART_MIN_MS;
  #cancelChanges: (() => void) | undefined;
  #cancelRestart = (): void => undefined;
  #started: PromiseWithResolvers<void> | undefined;
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(settings: OpcuaSettings, deps: OpcuaDeps) {
    this.#settings = settings;
    this.#deps = deps;
    this.#expiry = new Expiry({
      now: deps.now,
      schedule: deps.schedule,
      expired: (logins) => {
        for (const login of logins) this.#send({ say: 'expel', login });
      },
    });
  }

  /** Starts the server. Rejects with a StartupError if it cannot start. */
  async start(): Promise<void> {
    const { fanout } = this.#deps;
    for (const kind of ['zone', 'trackable'] as const) {
      const receive = (_: unknown, fields: readonly FilterFields[]): void => this.#note(kind, String(fields[0]?.[0]));
      this.#ends.push(fanout.listen({ receive }, { topic: `${kind}_changes`, view: WGS84 }));
    }
    const started = Promise.withResolvers<void>();
    this.#started = started;
    this.#open();
    try {
      await started.promise;
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      this.#started = undefined;
    }
  }

  /** Sends the last positions to the server, and all later ones. Called once the hub can answer for all objects. */
  follow(): void {
    const { fanout } = this.#deps;
    const subscriber = {
      deliver: (_: number, batch: DeliveryBatch): void => this.#sendMotions(batch, false),
      missed: (): void => void this.#sendAllMotions(),
    };
    const subscription = fanout.subscribe(subscriber, { topic: 'trackable_motions', view: WGS84 });
    this.#ends.push(() => fanout.unsubscribe(subscription));
    this.#isFollowing = true;
    void this.#sendAllMotions();
  }

  /** Closes the sessions of clients, and terminates the thread. Never rejects. */
  async close(): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    this.#expiry.clear();
    this.#cancelChanges?.();
    this.#cancelRestart();
    const worker = this.#worker;
    const closed = Promise.withResolvers<void>();
    this.#closed = closed;
    if (worker === undefined) return;
    this.#send({ say: 'close' });
    const cancel = this.#deps.schedule(CLOSE_MS, closed.resolve);
    await closed.promise;
    cancel();
    await worker.terminate();
  }

  #open(): void {
    const { hubId, version, permit, log } = this.#deps;
    const workerData: OpcuaThreadData = { settings: this.#settings, hubId, version, needsUser: permit !== undefined };
    const worker = new Worker(OPCUA_WORKER, {
      ...{ name: 'opcua', workerData, resourceLimits: HEAP_MB },
      stdout: true,
      stderr: true,
    });
    this.#worker = worker;
    for (const stream of [worker.stdout, worker.stderr]) {
      stream.on('data', (text: Buffer) => log.debug('Output of the OPC UA server', { text: String(text).trim() }));
    }
    worker.on('message', (message: FromOpcuaThread) => this.#receive(message));
    worker.on('error', (error: NodeJS.ErrnoException) => {
      // Thrown when the bundle of the thread, or a package that its source imports, is not installed.
      if (error.code?.endsWith('MODULE_NOT_FOUND')) this.#failed(NOT_INSTALLED, 'opcua_port');
      else this.#failed(String(error));
    });
    worker.on('exit', () => this.#exited(worker));
    this.#inTransit = 0;
    this.#isBehind = false;
    this.#send({ say: 'zones', changed: this.#deps.zones().map(zoneFacts), deleted: [] });
    this.#send({ say: 'trackables', changed: this.#deps.trackables().map(trackableFacts), deleted: [] });
    if (this.#isFollowing) void this.#sendAllMotions();
  }

  #receive(message: FromOpcuaThread): void {
    const { log } = this.#deps;
    switch (message.say) {
      case 'listening':
        this.#restartMs = RESTART_MIN_MS;
        log.info('OPC UA clients can connect', { url: message.url });
        this.#started?.resolve();
        return;
      case 'failed':
        this.#failed(message.problem, message.setting);
        void this.#worker?.terminate();
        return;
      case 'login':
        void this.#login(message.login, message.password);
        return;
      case 'logout':
        this.#expiry.delete(message.login);
        return;
      case 'taken':
        this.#inTransit -= message.bytes;
        if (this.#isBehind && this.#inTransit === 0) void this.#sendAllMotions();
        return;
      case 'notice':
        log.warn(message.text);
        return;
      case 'closed':
        this.#closed?.resolve();
    }
  }

  #failed(problem: string, setting?: string): void {
    if (this.#started === undefined) this.#deps.log.warn('The OPC UA server has failed', { error: problem });
    else {
      const what = setting === undefined ? `The OPC UA server cannot start: ${problem}` : `${setting}: ${problem}`;
      this.#started.reject(new StartupError(what));
    }
  }

  #exited(worker: Worker): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    this.#expiry.clear();
    this.#closed?.resolve();
    this.#started?.reject(new StartupError('The OPC UA server cannot start: its thread has ended'));
    if (this.#closed !== undefined || this.#started !== undefined) return;
    this.#cancelRestart = this.#deps.schedule(this.#restartMs, () => this.#open());
    this.#restartMs = Math.min(2 * this.#restartMs, RESTART_MAX_MS);
  }

  async #login(login: number, password: string): Promise<void> {
    const worker = this.#worker;
    const permission = await this.#deps.permit?.(password).catch((error: unknown) => {
      this.#deps.log.debug('An OPC UA client is rejected', { error: String(error) });
    });
    // Logins of an earlier thread have the same numbers.
    if (worker !== this.#worker) return;
    this.#send({ say: 'login', login, isPermitted: permission !== undefined });
    if (permission != null) this.#expiry.set(login, permission.expiresMs, permission.revoked);
  }

  #note(kind: 'zone' | 'trackable', id: string): void {
    this.#changed[kind].add(id);
    this.#cancelChanges ??= this.#deps.schedule(CHANGES_MS, () => this.#sendChanges());
  }

  #sendChanges(): void {
    this.#cancelChanges?.();
    this.#cancelChanges = undefined;
    const { zone, trackable } = this.#deps;
    const zones = taken(this.#changed.zone, zone);
    if (zones.found.length + zones.deleted.length > 0) {
      this.#send({ say: 'zones', changed: zones.found.map(zoneFacts), deleted: zones.deleted });
    }
    const trackables = taken(this.#changed.trackable, trackable);
    if (trackables.found.length + trackables.deleted.length > 0) {
      const { found, deleted } = trackables;
      this.#send({ say: 'trackables', changed: found.map(trackableFacts), deleted });
    }
  }

  /** hot */
  #sendMotions(batch: DeliveryBatch, isSnapshot: boolean): void {
    // The thread ignores the motion of a trackable that it does not have.
    if (this.#cancelChanges !== undefined) this.#sendChanges();
    const events = Array.from({ length: batch.count }, (_, i) => batch.bytesAt(i));
    const size = events.reduce((sum, { length }) => sum + length + 1, 0);
    if (!isSnapshot && this.#inTransit + size > IN_TRANSIT_MAX) {
      this.#isBehind = true;
      return;
    }
    const [bytes, ends] = [new Uint8Array(size), new Uint32Array(batch.count)];
    let at = 0;
    for (const [i, event] of events.entries()) {
      bytes.set(event, at);
      at += event.length;
      ends[i] = at;
      at++;
    }
    this.#inTransit += size;
    this.#send({ say: 'motions', bytes, ends, isSnapshot });
  }

  async #sendAllMotions(): Promise<void> {
    this.#isBehind = false;
    try {
      const motions = await this.#deps.motions();
      if (motions.length > 0) this.#sendMotions(DeliveryBatch.of(motions), true);
    } catch (error) {
      this.#deps.log.warn('OPC UA clients get positions only of trackables that move', { error: String(error) });
    }
  }

  #send(message: ToOpcuaThread): void {
    const transferred = message.say === 'motions' ? [message.bytes.buffer, message.ends.buffer] : [];
    this.#worker?.postMessage(message, transferred);
  }
}

/** Empties a set of ids, and returns the entities that exist, and the ids of the others. */
function taken<T>(ids: Set<string>, entity: (id: string) => T | undefined) {
  const all = [...ids].map((id) => [id, entity(id)] as const);
  ids.clear();
  return {
    found: all.flatMap(([, found]) => (found === undefined ? [] : [found])),
    deleted: all.flatMap(([id, found]) => (found === undefined ? [id] : [])),
  };
}
