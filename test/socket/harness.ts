import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import type { Access } from '../../src/auth/authorizer.ts';
import { Fanout } from '../../src/fanout/fanout.ts';
import type { Variant } from '../../src/model/topics.ts';
import type { TopicRequest, PublishResult, PubSubDeps } from '../../src/socket/deps.ts';
import { createSocket } from '../../src/socket/session.ts';
import { knowByToken } from '../../src/socket/upgrade_token.ts';
import { WaitingFrames } from '../../src/socket/waiting_frames.ts';
import { TaskScheduler } from '../../src/time/task_scheduler.ts';
import { listen } from '../../src/transport/server.ts';

export const SOCKET_PATH = '/v2/ws/socket';
/** The only valid token in an upgrade request. */
export const KNOWN_TOKEN = 'known';

/** A WebSocket server on a free port. The test publishes into its fan-out. */
export async function serveSocket(t: TestContext, deps: Partial<PubSubDeps> = {}) {
  let variants: readonly Variant[] = [];
  const published: { topic: string; values: readonly unknown[]; path: string }[] = [];
  const tooSlow: number[] = [];
  const reported: unknown[] = [];
  const fanout = new Fanout({
    variantsChanged(changed) {
      variants = changed;
    },
  });
  const note =
    (topic: string) =>
    (values: readonly unknown[], path: string): PublishResult => {
      published.push({ topic, values, path });
      return { problems: [] };
    };
  const handlePeer = createSocket({
    fanout,
    turns: new TaskScheduler(),
    ingestLocations: note('location_updates'),
    ingestProximities: note('proximity_updates'),
    waiting: new WaitingFrames(),
    subscriptionIdMode: 'auto',
    checkView({ crs = 'EPSG:4326', zone_id }) {
      if (crs !== 'local' && !crs.startsWith('EPSG:')) {
        throw errorWith('HUB_BAD_REQUEST', `crs: is not supported, found ${crs}`);
      }
      return { crs, zoneId: zone_id };
    },
    tooSlow: (_peer, bytes) => tooSlow.push(bytes),
    report: (error) => reported.push(error),
    ...deps,
  });
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    bodyMaxBytes: 1e6,
    frameMaxBytes: 1e6,
    idleTimeoutSeconds: 60,
    handleHttp: () => ({ status: 404 }),
    handlePeer,
    ...(deps.authorize && { knowPeer: knowByToken((token) => token === KNOWN_TOKEN) }),
    socketPaths: [SOCKET_PATH],
    refuse: (error) => ({ status: error.status, body: JSON.stringify(error.body('com.flowcate')) }),
    report: (error) => reported.push(error),
  });
  t.after(() => server.close());
  const variant = (topic: string): number =>
    variants.find((candidate) => candidate.topic === topic)?.id ?? assert.fail(`no variant of ${topic}`);
  return {
    fanout,
    published,
    tooSlow,
    reported,
    variant,
    connect: (headers = {}, query = '') => connect(`ws://127.0.0.1:${server.port}${SOCKET_PATH}${query}`, headers),
  };
}

/** A frame that publishes a location. */
export const location = (n: number) => ({ event: 'message', topic: 'location_updates', payload: [{ n }] });

/** Pending authorization requests that the test answers. */
export function questions() {
  const open: { readonly asked: TopicRequest; resolve(access: Access): void; reject(error: unknown): void }[] = [];
  let arrived: () => void = () => {};
  const authorize = (asked: TopicRequest): Promise<Access> => {
    return new Promise((resolve, reject) => {
      open.push({ asked, resolve, reject });
      arrived();
    });
  };
  const next = async () => {
    while (open.length === 0) {
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    }
    return open.shift() ?? assert.fail();
  };
  return { authorize, next, open };
}

/** A client that queues received frames until the test reads them. */
export class Client {
  readonly socket: WebSocket;
  readonly #frames: string[] = [];
  #wanted: ((frame: string) => void) | undefined;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data, isBinary) => {
      assert.equal(isBinary, false);
      const frame = String(data);
      if (this.#wanted === undefined) this.#frames.push(frame);
      else this.#wanted(frame);
      this.#wanted = undefined;
    });
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** Returns the next frame unparsed. */
  async nextText(): Promise<string> {
    const waiting = this.#frames.shift();
    if (waiting !== undefined) return waiting;
    return await new Promise((resolve) => {
      this.#wanted = resolve;
    });
  }

  async next(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.nextText());
  }

  async ask(frame: unknown): Promise<Record<string, unknown>> {
    this.send(frame);
    return await this.next();
  }

  /** Returns the code and the reason of the close. */
  async closed(): Promise<readonly [number, string]> {
    const [code, reason] = await once(this.socket, 'close');
    return [code, String(reason)];
  }
}

async function connect(url: string, headers: Record<string, string>): Promise<Client> {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  const client = new Client(socket);
  await once(socket, 'open');
  return client;
}
