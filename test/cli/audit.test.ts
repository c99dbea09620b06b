import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HALL } from '../support/hall.ts';
import { openTestHub } from '../support/running_hub.ts';
import { runCli } from './run_cli.ts';

test('audit prints the selected changes, one per line, or as JSON', async (t) => {
  const hub = await openTestHub({}, { isAlone: true });
  t.after(hub.close);
  await hub.post('/zones', HALL);
  await hub.put(`/zones/${HALL.id}`, { ...HALL, name: 'Hall', floor: 1 });
  await hub.post('/providers', { id: 'tag', type: 'uwb' });
  // A line break in a name forges no entry.
  await hub.put('/providers/tag', { id: 'tag', type: 'uwb', properties: { 'x\ny': 1 } });
  const at = ['--hub', hub.origin];
  const { out, err, code } = await runCli('audit', '--kind', 'zone', ...at);
  assert.deepEqual([code, err], [0, '']);
  const rest = ['-', '127.0.0.1', 'rest'];
  const lines = out.trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => line.split('\t').slice(1)),
    [
      [...rest, 'create', 'zone', HALL.id],
      [...rest, 'update', 'zone', HALL.id, '/floor /name'],
    ],
  );
  const { out: tag } = await runCli('audit', '--id', 'tag', ...at);
  assert.equal(tag.trimEnd().split('\n').length, 2, tag);
  const { out: json } = await runCli('audit', '--id', 'tag', '--json', ...at);
  assert.equal(JSON.parse(json.split('\n')[0] ?? '').kind, 'provider');
  assert.equal(
    (await runCli('audit', '--to', '2020-01-01T00:00:00Z', '--from', '2019-01-01T00:00:00Z', ...at)).out,
    '',
  );
});
