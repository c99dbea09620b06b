import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openSources, type AdapterSources } from '../../src/adapters/sources.ts';
import { TAKEN } from './open_connection.ts';
import { RtlsServer, until } from './rtls_server.ts';
import { SimulatedTime } from './simulated_time.ts';

/** Two hubs with the same two streams, of which one names its zone by a foreign id. */
async function hubsOf(t: TestContext) {
  const servers = [await RtlsServer.open(), await RtlsServer.open()];
  const ids = new Map([['zone-1', 'zone-1']]);
  const owners = new Map<string, string>();
  const streams = servers.map(({ port }, index) => {
    const zone = index === 0 ? { zone_id: 'zone-1' } : { foreign_id: 'cellar' };
    return { host: '127.0.0.1', port, type: 'uwb' as const, ...zone };
  });
  const time = new SimulatedTime();
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
  const [a, b] = ['a', 'b'].map((hub) => {
    return openSources({
      ...{ streams, ingest: { locationsEach: () => TAKEN }, log, now: time.now, timeOfDay: (ms: number) => ms },
      ...{ schedule: time.schedule, random: () => 0.5 },
      zoneId: (name) => ids.get(name),
      opens: (zoneId) => owners.get(zoneId) === hub,
    });
  }) as [AdapterSources, AdapterSources];
  t.after(async () => {
    a.close();
    b.close();
    for (const server of servers) await server.close();
  });
  const sourcesOf = (hub: AdapterSources) => hub.status().map(({ source }) => source);
  return { a, b, ids, owners, servers: servers as [RtlsServer, RtlsServer], sourcesOf };
}

test('Each stream is opened by the hub that owns its zone, and moves with its ownership', async (t) => {
  const { a, b, owners, servers, sourcesOf } = await hubsOf(t);
  owners.set('zone-1', 'a').set('cellar', 'b');
  assert.deepEqual([...sourcesOf(a), ...sourcesOf(b)], [], 'before they are started');
  a.changed();
  assert.deepEqual(sourcesOf(a), [], 'nor by a change');
  a.start();
  b.start();
  assert.deepEqual([sourcesOf(a), sourcesOf(b)], [['zone-1'], ['cellar']]);
  const first = await servers[0].next();
  let isClosed = false;
  first.on('close', () => {
    isClosed = true;
  });
  first.resume();

  owners.delete('zone-1');
  for (const hub of [a, b]) hub.changed();
  assert.deepEqual([sourcesOf(a), sourcesOf(b)], [[], ['cellar']], 'no hub, during the handover');
  await until(() => isClosed, 'the server sees the close');
  owners.set('zone-1', 'b');
  for (const hub of [a, b]) hub.changed();
  assert.deepEqual([sourcesOf(a), sourcesOf(b)], [[], ['zone-1', 'cellar']]);
  await servers[0].next();
  await until(() => b.status().every(({ state }) => state === 'connected'), 'both are connected');
  assert.deepEqual(
    b.status().map(({ reconnects }) => reconnects),
    [0, 0],
  );
  b.changed();
  assert.ok(
    b.status().every(({ state }) => state === 'connected'),
    'an unmoved stream stays connected',
  );
  b.close();
  b.changed();
  assert.deepEqual(sourcesOf(b), []);
});

test('A stream belongs to the zone of its foreign id as soon as one exists', async (t) => {
  const { a, b, ids, owners, sourcesOf } = await hubsOf(t);
  owners.set('cellar', 'a').set('zone-2', 'b');
  for (const hub of [a, b]) hub.start();
  assert.deepEqual([sourcesOf(a), sourcesOf(b)], [['cellar'], []]);
  ids.set('cellar', 'zone-2');
  for (const hub of [a, b]) hub.zone('zone-2', undefined);
  assert.deepEqual([sourcesOf(a), sourcesOf(b)], [[], ['cellar']]);
});
