import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCli, runCliIn } from '../cli/run_cli.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { openWebhookServer, SIGNING_KEY, verifySignature } from '../support/webhook_server.ts';

const SETTINGS = { sink_allowed_hosts: '["*", "127.0.0.1"]' };

const at = (lon: number) => ({
  position: { type: 'Point', coordinates: [lon, 50] },
  source: 'somewhere',
  crs: 'EPSG:4326',
  provider_type: 'uwb',
  provider_id: 'tag-1',
});

test('A webhook receives signed locations of a hub, without secrets in any reply, and again after a restart', async (t) => {
  const [target, folder] = [await openWebhookServer(), temporaryFolder()];
  t.after(() => target.close());
  const hub = await openTestHub(SETTINGS, { folder });
  const body = {
    ...{
      name: 'Warehouse',
      type: 'webhook',
      url: target.url,
      topics: ['location_updates'],
      params: { crs: 'EPSG:32632' },
    },
    ...{ secret: SIGNING_KEY, headers: { 'X-Api-Key': 'api-key-of-the-warehouse' } },
  };
  const created = await hub.post('/sinks', body);
  assert.equal(created.status, 201, created.text);
  const { id } = created.body as { id: string };
  const tested = await hub.post(`/sinks/${id}/test`);
  assert.equal(tested.body.delivered, true, tested.text);

  const located = await hub.put('/providers/tag-1/location', at(8));
  assert.equal(located.status, 204, located.text);
  await target.until(2);
  const [, location] = target.requests;
  assert.ok(location !== undefined);
  verifySignature(location);
  assert.equal(location.headers['x-api-key'], 'api-key-of-the-warehouse');
  const { type, subject, data } = JSON.parse(location.body);
  assert.deepEqual([type, subject, data.crs], ['com.omlox.location_updates', 'tag-1', 'EPSG:32632']);

  const { sinks } = (await hub.get('/health/system')).body as { sinks: { id: string; state: string }[] };
  assert.deepEqual([sinks[0]?.id, sinks[0]?.state], [id, 'active']);
  const metrics = (await hub.get(`${hub.origin}/metrics`)).text;
  assert.match(metrics, /^hub_sinks\{state="active"\} 1$/m);
  assert.match(metrics, new RegExp(`^hub_sink_delivered_total\\{sink="${id}"\\} 1$`, 'm'));

  assert.equal((await hub.post(`/sinks/${id}/pause`)).body.state, 'paused');
  assert.equal((await hub.post(`/sinks/${id}/resume`)).body.state, 'active');
  const patched = await hub.request('PATCH', `/sinks/${id}`, { op: 'replace', path: '/name', value: 'Renamed' });
  const put = await hub.put(`/sinks/${id}`, patched.body);
  const reads = await Promise.all(
    ['/sinks', `/sinks/${id}`, '/sinks/status', `/sinks/${id}/status`, `/sinks/${id}/deliveries`].map((path) =>
      hub.get(path),
    ),
  );
  for (const reply of [created, patched, put, ...reads]) {
    assert.ok(reply.status < 300, reply.text);
    assert.doesNotMatch(reply.text, /whsec_|api-key-of-the-warehouse/);
  }
  const unknownCrs = await hub.post('/sinks', { ...body, params: { crs: 'EPSG:1' } });
  assert.deepEqual([unknownCrs.status, unknownCrs.body.reason], [400, 'not_a_crs']);
  const bad = await hub.post('/sinks', { ...body, url: 'http://169.254.169.254/latest/meta-data' });
  assert.match(
    bad.text,
    /url: must name a host that sink_allowed_hosts allows: address 169\.254\.169\.254 is not public/,
  );
  await hub.close();

  const file = join(folder, 'export.json');
  const exported = await runCliIn(folder, 'export', file);
  assert.equal(exported.code, 0, exported.err);
  const document = await readFile(file, 'utf8');
  assert.deepEqual(JSON.parse(document).sinks, [put.body]);
  assert.doesNotMatch(document, /whsec_|api-key-of-the-warehouse/);
  // The import retains the secrets that the document does not have.
  const imported = await runCliIn(folder, 'import', file, '--replace');
  assert.equal(imported.code, 0, imported.err);

  const second = await openTestHub(SETTINGS, { folder });
  t.after(() => second.close());
  assert.deepEqual((await second.get(`/sinks/${id}`)).body, put.body);
  await second.put('/providers/tag-1/location', at(9));
  await target.until(3);
  verifySignature(target.requests[2] ?? { headers: {}, body: '' });
  const listed = await runCli('sinks', 'list', '--hub', second.origin);
  assert.match(listed.out, new RegExp(`^${id}\twebhook\tRenamed\tactive\t1 delivered, 0 waiting, 0 s behind$`, 'm'));
  assert.match(
    (await runCli('sinks', 'test', id, '--hub', second.origin)).out,
    /has accepted the test event in \d+ ms/,
  );
  const unknown = await runCli('sinks', 'replay', 'nobody', '--from', '2026-11-27T08:00:00Z', '--hub', second.origin);
  assert.match(unknown.err, /The hub rejects the request: .*nobody.* \(404\)/);
  assert.equal((await second.delete(`/sinks/${id}`)).status, 204);
  assert.deepEqual((await second.get('/sinks')).body, []);
});
