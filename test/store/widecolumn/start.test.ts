import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from 'cassandra-driver';
import type { LastKnownRow } from '../../../src/core/item.ts';
import type { EntityWrite } from '../../../src/core/entity_write.ts';
import { StartupError } from '../../../src/errors.ts';
import { openStore } from '../../../src/store/open.ts';
import { probe } from '../../../src/store/widecolumn/connect.ts';
import { asStartupError } from '../../../src/store/widecolumn/failures.ts';
import type { WideColumnSettings } from '../../../src/store/widecolumn/settings.ts';
import { WideColumnStore } from '../../../src/store/widecolumn/wide_column_store.ts';
import { testCassandra } from '../../cassandra/test_cassandra.ts';
import { temporaryFolder } from '../../support/temporary_folder.ts';
import { row, sorted } from '../rows.ts';
import { simulated } from './simulated.ts';

const cassandra = testCassandra();
const { skip } = cassandra;
const zone = (id: string, text = `{"id":"${id}"}`): EntityWrite => ({ kind: 'zone', id, text });

async function refusal(settings: WideColumnSettings): Promise<string> {
  const opened = WideColumnStore.open(settings, simulated().deps);
  const error: unknown = await opened.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof StartupError, `a StartupError, found ${error}`);
  assert.doesNotMatch(error.message, /\n/);
  return error.message;
}

const REFUSED: readonly (readonly [name: string, more: Partial<WideColumnSettings>, message: RegExp])[] = [
  ['a port without a listener', { port: 1 }, /127\.0\.0\.1:1: no host answers: .*ECONNREFUSED/],
  ['a wrong password', { password: 'wrong' }, /it does not let the user in: /],
  ['no user although one is required', { username: null }, /requires authentication|does not let the user in/],
  ['a data center that there is not', { datacenter: 'mars' }, /it has no data center "mars", only datacenter1$/],
  ['an unknown replication class', { replication: "{'class': 'NoSuchStrategy'}" }, /NoSuchStrategy/],
  ['a certificate that is not trusted', { tls: { pem: null } }, /certificate/],
  [
    'a PEM file that is missing',
    { tls: { pem: '/nowhere/ca.pem' } },
    /^Cannot read widecolumn_tls_pem \/nowhere\/ca.pem: ENOENT/,
  ],
];

for (const [name, more, message] of REFUSED) {
  test(`WideColumnStore rejects ${name} with one plain line`, { skip }, async () => {
    assert.match(await refusal(cassandra.settings(more)), message);
  });
}

test('WideColumnStore reports unresponsive hosts without any database', async () => {
  const settings = { hosts: ['127.0.0.1', '::1'], port: 1, username: null, password: null, keyspace: 'hub' } as const;
  const others = { replication: '{}', datacenter: null, readConsistency: 'ONE', writeConsistency: 'ONE' } as const;
  const times = { connectTimeoutMs: 5000, requestTimeoutMs: 5000, tls: undefined, bytesPerSecond: 1, burstBytes: 1 };
  const message = await refusal({ ...settings, ...others, ...times });
  assert.match(
    message,
    /^Cannot use the wide-column database at 127\.0\.0\.1:1, \[::1\]:1: no host answers: connect E/,
  );
});

test('A probe returns the version of the database, or why it cannot', { skip }, async () => {
  const settings = cassandra.settings();
  assert.match(await probe(settings), /^\d+\.\d+/);
  await assert.rejects(probe({ ...settings, password: 'wrong' }), (error) => {
    return /it does not let the user in/.test(asStartupError(error, settings).message);
  });
});

test('WideColumnStore uses TLS with a trusted certificate', { skip }, async () => {
  const settings = cassandra.settings({ tls: { pem: cassandra.process.certificate } });
  const store = await openStore(settings);
  await store.commit({ entities: [zone('a')], rows: [] });
  await store.close();
  const plain = await openStore({ ...settings, tls: undefined });
  assert.deepEqual((await plain.load()).entities, [zone('a')]);
  await plain.close();
});

test('WideColumnStore rejects a file without PEM', { skip }, async () => {
  const pem = join(temporaryFolder(), 'ca.pem');
  writeFileSync(pem, 'nothing');
  assert.match(
    await refusal(cassandra.settings({ tls: { pem } })),
    /^Cannot use widecolumn_tls_pem .*: there is no PEM in it$/,
  );
});

test('WideColumnStore rejects data of a newer hub, and leaves it unchanged', { skip }, async () => {
  const settings = cassandra.settings();
  await (await WideColumnStore.open(settings, simulated().deps)).close();
  const client = new Client({
    contactPoints: [`127.0.0.1:${settings.port}`],
    localDataCenter: 'datacenter1',
    keyspace: settings.keyspace,
    credentials: { username: 'cassandra', password: 'cassandra' },
  });
  const holder = async () => (await client.execute('SELECT holder FROM hub')).first().get('holder');
  const before = await holder();
  await client.execute("UPDATE schema_version SET version = 7 WHERE name = 'hub'");
  assert.match(await refusal(settings), /written by a newer hub \(version 7, this hub knows 4\)$/);
  assert.equal(await holder(), before);
  await client.shutdown();
});

test('A second hub on a keyspace takes it over with its first write, and the first hub no longer writes', {
  skip,
}, async () => {
  const settings = cassandra.settings();
  const { time, deps } = simulated();
  const first = await WideColumnStore.open(settings, deps);
  await first.commit({ entities: [zone('a')], rows: [] });
  const second = await WideColumnStore.open(settings, deps);
  time.nowMs += 60_000;
  await first.commit({ entities: [zone('b')], rows: [] });
  await second.commit({ entities: [zone('c')], rows: [] });
  time.nowMs += 60_000;
  const late = first.commit({ entities: [zone('d')], rows: [] });
  await assert.rejects(
    late,
    /^Error: Cannot write to the wide-column database: another hub has taken over the keyspace$/,
  );
  const { entities, hubId } = await second.load();
  assert.deepEqual(entities, [zone('a'), zone('b'), zone('c')]);
  assert.equal(hubId, (await first.load()).hubId);
  await Promise.all([first.close(), second.close()]);
});

test('Rows written after a backward clock step are still newer', { skip }, async () => {
  const settings = cassandra.settings();
  const startMs = Date.now();
  const ahead = await WideColumnStore.open(settings, simulated(startMs + 3_600_000).deps);
  const gone: LastKnownRow = { kind: 'provider', id: 'tag-4', gone: true };
  await ahead.commit({ entities: [zone('a', '"old"'), zone('b')], rows: [row(2), row(4)] });
  await ahead.commit({ entities: [{ ...zone('b'), text: undefined }], rows: [gone] });
  await ahead.close();
  const back = await WideColumnStore.open(settings, simulated(startMs).deps);
  const newer = row(2, { atMs: 5 });
  await back.commit({ entities: [zone('a', '"new"'), zone('b', '"again"')], rows: [newer, row(4)] });
  const { entities, rows } = await back.load();
  assert.deepEqual(entities, [zone('a', '"new"'), zone('b', '"again"')]);
  assert.deepEqual(sorted(rows), [newer, row(4)]);
  await back.close();
});

test('A large group of entities retains its order, and 100,000 rows are read in seconds', { skip }, async (context) => {
  const store = await openStore(cassandra.settings());
  const entities = Array.from({ length: 5000 }, (_, number) => zone(`zone ${number}`, 'x'.repeat((number * 37) % 900)));
  await store.commit({ entities, rows: [] });
  const startMs = performance.now();
  for (let first = 0; first < 100_000; first += 10_000) {
    await store.commit({ entities: [], rows: Array.from({ length: 10_000 }, (_, number) => row(first + number)) });
  }
  const writtenMs = performance.now();
  const kept = await store.load();
  context.diagnostic(
    `100,000 rows: written in ${Math.round(writtenMs - startMs)} ms, read in ${Math.round(performance.now() - writtenMs)} ms`,
  );
  assert.ok(performance.now() - writtenMs < 60_000);
  assert.deepEqual(kept.entities, entities);
  assert.equal(new Set(kept.rows.map(({ id }) => id)).size, 100_000);
  await store.close();
});
