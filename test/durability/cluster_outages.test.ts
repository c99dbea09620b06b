import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { natsProgram } from '../../bench/process/nats_program.ts';
import { NatsServers } from '../../bench/process/nats_server.ts';
import { HubSeat } from './cluster/hub_seat.ts';
import { locationOf } from './hub_process.ts';

const PROVIDERS = Array.from({ length: 50 }, (_, i) => `provider ${i}`);
/** Clients send at a modest rate, so that waits are not those of a busy machine. */
const CLIENTS = 24;
const PAUSE_MS = 150;
const EVEN_MS = 60_000;
const LOAD_MS = 6000;
/** Bounds for a busy machine. */
const LIVING_P99_MS = 1000;
const RESTART_MS = 60_000;

const program = await natsProgram();
const skip = 'missing' in program ? `no nats-server: ${program.missing}` : false;

/** Three hubs, each of which owns its share, on three NATS servers. */
async function threeHubs(): Promise<{ readonly nats: NatsServers; readonly seats: readonly HubSeat[] }> {
  assert.ok('path' in program);
  const nats = await NatsServers.start({ path: program.path, count: 3 });
  after(() => nats.stop());
  const seats = await Promise.all(['a', 'b', 'c'].map((name) => HubSeat.open(name, nats, after)));
  await Promise.all(seats.map((seat) => seat.start()));
  for (const untilMs = Date.now() + EVEN_MS; ; await delay(100)) {
    const owners: readonly (string | null)[] = (await seats[0]?.request('GET', '/cluster/owners'))?.body?.owners ?? [];
    const shares = seats.map(({ name }) => owners.filter((owner) => owner === name).length);
    if (Math.min(...shares) >= 80) break;
    assert.ok(Date.now() < untilMs, `partitions are not distributed: ${shares}`);
  }
  return { nats, seats };
}

function put(seat: HubSeat, providers: readonly string[]): ReturnType<HubSeat['request']> {
  return seat.request(
    'PUT',
    '/providers/locations',
    providers.map((provider) => locationOf(provider, 1)),
  );
}

/** Name of the hub that owns a provider. */
async function ownerOf(seat: HubSeat, provider: string): Promise<unknown> {
  return (await seat.request('GET', `/cluster/owners/${encodeURIComponent(provider)}`))?.body.owner;
}

/** Time until a location of each provider is acknowledged by a hub. */
async function acknowledged(seat: HubSeat): Promise<number> {
  const fromMs = performance.now();
  while ((await put(seat, PROVIDERS))?.status !== 204) {
    assert.ok(performance.now() < fromMs + RESTART_MS, `${seat.name} acknowledges nothing`);
    await delay(20);
  }
  return performance.now() - fromMs;
}

function shown(waits: readonly number[]): string {
  const sorted = waits.toSorted((one, other) => one - other);
  const [p50, p99, max] = [0.5, 0.99, 1].map((part) => Math.round(quantile(sorted, part)));
  return `p50 ${p50}, p99 ${p99}, max ${max} ms of ${sorted.length}`;
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

test('When a hub is killed, only locations of its objects wait, and a cluster that was killed serves again', {
  skip,
}, async (context) => {
  const { nats, seats } = await threeHubs();
  const [a, b, c] = seats as [HubSeat, HubSeat, HubSeat];
  await acknowledged(a);

  const providers = PROVIDERS.slice(0, CLIENTS);
  const waitsOf = new Map(providers.map((provider) => [provider, [] as number[]]));
  let sinceMs = Number.POSITIVE_INFINITY;
  let isOver = false;
  const clients = providers.map(async (provider, i) => {
    while (!isOver) {
      const fromMs = performance.now();
      const answered = await put([a, b][i % 2] as HubSeat, [provider]);
      assert.equal(answered?.status, 204);
      if (performance.now() > sinceMs) waitsOf.get(provider)?.push(performance.now() - fromMs);
      await delay(PAUSE_MS);
    }
  });
  await delay(2000);
  // Partitions move by their load, so only the owners at the time of the kill count.
  const ofKilled = await Promise.all(providers.map(async (provider) => (await ownerOf(a, provider)) === c.name));
  sinceMs = performance.now();
  await c.kill();
  await delay(LOAD_MS);
  isOver = true;
  await Promise.all(clients);
  const waitsIf = (isKilled: boolean) => {
    return providers.flatMap((provider, i) => (ofKilled[i] === isKilled ? (waitsOf.get(provider) ?? []) : []));
  };
  const waits = { living: waitsIf(false), killed: waitsIf(true) };
  context.diagnostic(`objects of living hubs: ${shown(waits.living)}`);
  context.diagnostic(`objects of the killed hub: ${shown(waits.killed)}`);
  assert.ok(Math.max(...waits.killed) > 500, 'the kill had an effect');
  assert.ok(
    quantile(
      waits.living.toSorted((one, other) => one - other),
      0.99,
    ) < LIVING_P99_MS,
  );

  await Promise.all([a.kill(), b.kill()]);
  await Promise.all(nats.servers.map((server) => server.kill()));
  const fromMs = performance.now();
  const natsMs = Promise.all(nats.servers.map((server) => server.start())).then(() => performance.now() - fromMs);
  await Promise.all(seats.map((seat) => seat.start()));
  const joinedMs = performance.now() - fromMs;
  await Promise.all(seats.map(acknowledged));
  const restartMs = performance.now() - fromMs;
  const times = [await natsMs, joinedMs, restartMs].map(Math.round);
  context.diagnostic(
    `restart of everything: NATS ${times[0]}, all hubs joined ${times[1]}, acknowledged ${times[2]} ms`,
  );
  for (const seat of seats) {
    const found: readonly { readonly provider_id: string }[] =
      (await seat.request('GET', '/providers/locations'))?.body ?? [];
    assert.deepEqual(found.map((each) => each.provider_id).toSorted(), PROVIDERS.toSorted());
  }
  assert.ok(restartMs < RESTART_MS);
});
