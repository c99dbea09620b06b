import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { HubProcess, locationOf } from '../durability/hub_process.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { type Waits, waitsDuring } from '../support/waits.ts';

const PROVIDERS = 100_000;
/**
 * Bound on the longest wait, as a part of the time of a list. Without yielding, it is most of that time; with it, less
 * than a tenth.
 */
const PART_OF_WORK = 0.4;
/** Shorter waits are not compared. */
const SHORT_MS = 200;
/** Other processes of the machine cause waits as well, so the best attempt counts. */
const TRIES = 5;
const MIB = 2 ** 20;

/** A hub with many providers and their locations. */
async function manyProviders(settings = {}): Promise<HubProcess> {
  const hub = await HubProcess.start(temporaryFolder(), { persist_locations: false, ...settings });
  for (let from = 0; from < PROVIDERS; from += 10_000) {
    const locations = Array.from({ length: 10_000 }, (_, i) => locationOf(`tag-${from + i}`, i));
    // The hub rejects locations while it is full.
    while ((await hub.put('/providers/locations', locations))?.status !== 204) await hub.get('/version');
  }
  return hub;
}

const othersDuring = (hub: HubProcess, work: Promise<unknown>): Promise<Waits> =>
  waitsDuring(work, async () => assert.equal((await hub.get('/version'))?.status, 200));

const textOf = async (hub: HubProcess, path: string): Promise<string> => (await fetch(hub.base + path)).text();

test('long lists have the rows of short ones, and no other client waits for them', async (t) => {
  const hub = await manyProviders();
  const paths = ['/providers', '/providers/summary', '/providers/locations', '/providers/locations?geojson'];
  const texts: string[] = [];
  /** Runs `work` while other requests wait for responses, and returns its result. */
  const whileOthersWait = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      const done = work();
      const { longestMs, tookMs }: Waits = await othersDuring(hub, done);
      const text = `${what}: the longest wait was ${Math.round(longestMs)} of ${Math.round(tookMs)} ms`;
      t.diagnostic(text);
      const isShort = tookMs < SHORT_MS || longestMs < PART_OF_WORK * tookMs;
      assert.ok(isShort || tries < TRIES, text);
      if (isShort) return done;
    }
  };
  for (const path of paths) texts.push(await whileOthersWait(path, () => textOf(hub, path)));
  const twelve = await whileOthersWait('12 lists at once', () => {
    return Promise.all(Array.from({ length: 12 }, () => textOf(hub, '/providers/summary')));
  });
  assert.ok(twelve.every((text) => text === texts[1]));
  const lists = texts.map((text) => JSON.parse(text));
  assert.deepEqual(
    texts.map((text, i) => text === JSON.stringify(lists[i])),
    paths.map(() => true),
  );
  const [ids, providers, locations, { type, features }] = lists;
  assert.deepEqual(
    [ids, providers, locations, features].map(({ length }) => length),
    paths.map(() => PROVIDERS),
  );
  assert.equal(type, 'FeatureCollection');
  assert.deepEqual(
    ids,
    providers.map(({ id }: { id: string }) => id),
  );
  assert.equal(new Set(ids).size, PROVIDERS);
  const page = JSON.parse(await textOf(hub, '/providers/summary?limit=1000'));
  const sorted = providers.toSorted((a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1));
  assert.deepEqual(page, sorted.slice(0, 1000));
  await hub.stop();
});

test('a list is a snapshot of the time of its request', async (t) => {
  const hub = await manyProviders();
  const before = await textOf(hub, '/providers/summary');
  const { socket, all } = await slowReader(t, hub, '/providers/summary');
  assert.equal((await hub.put('/providers/tag-99999', { id: 'tag-99999', type: 'uwb', name: 'changed' }))?.status, 204);
  assert.equal((await fetch(`${hub.base}/providers/tag-50000`, { method: 'DELETE' })).status, 204);
  socket.resume();
  assert.ok((await all) === before, 'the list has changed while it was read');
  assert.ok((await textOf(hub, '/providers/summary')) !== before);
  await hub.stop();
});

const skip = process.platform === 'linux' ? false : 'needs /proc';

test('unread lists use little memory', { skip }, async (t) => {
  const hub = await manyProviders();
  const rssOf = () => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${hub.pid}/status`, 'utf8'))?.[1]) * 1024;
  await textOf(hub, '/providers/summary');
  const before = rssOf();
  for (let n = 0; n < 50; n++) await slowReader(t, hub, '/providers/summary');
  const growth = rssOf() - before;
  t.diagnostic(`${Math.round(growth / MIB)} MiB for 50 lists`);
  assert.ok(growth < 250 * MIB, `${growth} bytes for 50 lists`);
  await hub.stop();
});

/** A client that has requested a list and read its first bytes. It continues when its socket is resumed. */
async function slowReader(t: TestContext, hub: HubProcess, path: string) {
  const { hostname, port, pathname } = new URL(hub.base);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  socket.on('error', () => undefined);
  let bytes = Buffer.alloc(0);
  const all = new Promise<string>((resolve) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (!chunk.subarray(-7).equals(Buffer.from('\r\n0\r\n\r\n'))) return;
      bytes = Buffer.concat(chunks);
      resolve(unchunked(bytes));
    });
  });
  socket.write(`GET ${pathname}${path} HTTP/1.1\r\nHost: h\r\n\r\n`);
  await once(socket, 'data');
  socket.pause();
  return { socket, all };
}

/** Decodes a chunked response body. */
function unchunked(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = bytes.indexOf('\r\n\r\n') + 4; ; ) {
    const end = bytes.indexOf('\r\n', at);
    const length = Number.parseInt(bytes.toString('latin1', at, end), 16);
    if (length === 0) return Buffer.concat(parts).toString();
    parts.push(bytes.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}
