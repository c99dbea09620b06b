import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { HttpConnection } from '../../bench/load/http_connection.ts';
import { BenchHub, type HubSettings } from '../../bench/process/hub.ts';
import { cpuSeconds } from '../../bench/process/proc.ts';
import { ADMIN } from './authorized_hub.ts';
import { Issuer } from './issuer.ts';

const CONNECTIONS = 32;
const ROUNDS = 6;
const WARM_MS = 500;
/** THROUGHPUT_SECONDS makes it longer, to read the numbers from. */
const ROUND_MS = 1000 * Number(process.env['THROUGHPUT_SECONDS'] ?? 0.7);

interface Loaded {
  readonly hub: BenchHub;
  readonly connections: readonly HttpConnection[];
  readonly request: (provider: string) => Buffer;
}

async function load(settings: HubSettings, folder: string | undefined, headers: string): Promise<Loaded> {
  const hub = await BenchHub.start({
    settings: { ...settings, num_threads: 1 },
    ...(folder === undefined ? {} : { folder }),
  });
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => HttpConnection.open(hub.port)));
  const request = (provider: string): Buffer => {
    const body = JSON.stringify({
      provider_id: provider,
      provider_type: 'uwb',
      source: 'site',
      crs: 'EPSG:4326',
      position: { type: 'Point', coordinates: [9, 50] },
      properties: { battery: 87, quality: 0.93 },
    });
    const head = `PUT /hub/v2/providers/${provider}/location HTTP/1.1\r\nHost: hub\r\n${headers}`;
    return Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  return { hub, connections, request };
}

/** Sends on all connections for that long; returns how many were accepted, and the CPU that they took. */
async function round({ hub, connections, request }: Loaded, ms: number) {
  const before = cpuSeconds(hub.pid);
  const started = performance.now();
  let accepted = 0;
  await Promise.all(
    connections.map(async (connection, i) => {
      const bytes = request(`tag-${i}`);
      while (performance.now() - started < ms) {
        const fate = await new Promise<string>((resolve) => connection.send(bytes, resolve));
        assert.equal(fate, 'accepted');
        accepted++;
      }
    }),
  );
  return {
    perSecond: (1000 * accepted) / (performance.now() - started),
    cpuMs: (1000 * (cpuSeconds(hub.pid) - before)) / accepted,
  };
}

const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

test('Authorization leaves most of the throughput of single locations', { timeout: 240_000 }, async (t) => {
  const issuer = await Issuer.open();
  const folder = await mkdtemp(join(tmpdir(), 'hub-auth-'));
  const opened: Loaded[] = [];
  t.after(async () => {
    for (const { hub, connections } of opened) {
      for (const connection of connections) connection.close();
      await hub.stop();
    }
    await issuer.close();
    await rm(folder, { recursive: true, force: true });
  });
  await writeFile(join(folder, 'permissions.yaml'), ADMIN);
  const owned = { provider_ids: Array.from({ length: 10 }, (_, i) => `tag-${i}`) };
  const token = await issuer.token({ roles: ['admin', 'offline_access', 'uma_authorization'], owned, expiresIn: 3600 });
  const open = await load({}, undefined, '');
  opened.push(open);
  const closed = await load(issuer.settings, folder, `Authorization: Bearer ${token}\r\n`);
  opened.push(closed);
  for (const each of [open, closed]) await round(each, WARM_MS);
  const rates: number[] = [];
  const costs: number[] = [];
  // In turn, since the machine has other things to do.
  for (let i = 0; i < ROUNDS; i++) {
    const [without, withToken] = [await round(open, ROUND_MS), await round(closed, ROUND_MS)];
    rates.push(withToken.perSecond / without.perSecond);
    costs.push(without.cpuMs / withToken.cpuMs);
    t.diagnostic(
      `without ${Math.round(without.perSecond)}/s, ${Math.round(1000 * without.cpuMs)} µs of CPU each; ` +
        `with ${Math.round(withToken.perSecond)}/s, ${Math.round(1000 * withToken.cpuMs)} µs`,
    );
  }
  t.diagnostic(
    `throughput with authorization: ${middle(rates).toFixed(2)} of that without; by CPU ${middle(costs).toFixed(2)}`,
  );
  assert.ok(middle(costs) > 0.6, `a location costs ${(1 / middle(costs)).toFixed(2)} times as much CPU`);
});
