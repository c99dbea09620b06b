import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { HubProcess, locationOf } from '../durability/hub_process.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const LOG = new URL('../../src/hub/log.ts', import.meta.url).href;
const FORGED = '\r\n{"level":50,"msg":"forged"}\n\u2028\u0085\u001b[2J\u0000';

test('Every log entry is one line of JSON, whatever its contents', () => {
  const script = `
    import { openLog } from '${LOG}';
    const log = openLog('Trace');
    const text = ${JSON.stringify(FORGED)};
    log.warn(text, { userAgent: text, [text]: text, error: String(new Error(text)) });
    log.error('second', { nested: { text }, level: 10, msg: text, time: text });`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  const lines = stderr.trimEnd().split('\n');
  assert.equal(lines.length, 2, stderr);
  const [first, second] = lines.map((line) => JSON.parse(line));
  assert.deepEqual([first.level, first.msg, first.userAgent], [40, FORGED, FORGED]);
  assert.equal(second.nested.text, FORGED);
  assert.ok(
    [...lines.join('')].every((character) => character >= ' '),
    stderr,
  );
});

test('Clients cannot inject lines into the log of a hub', async () => {
  const hub = await HubProcess.start(temporaryFolder(), { severity_level: 'Trace' });
  const notification = {
    notifications: [{ notificationType: 'locationupdate', deviceId: FORGED, locationMapHierarchy: FORGED }],
  };
  await hub.post('/adapters/cisco/locations', notification);
  await fetch(new URL('/adapters/cisco/locations', hub.base), { method: 'POST', body: JSON.stringify(notification) });
  await hub.put('/providers/tag/location', locationOf('tag', 1, { source: FORGED, properties: { [FORGED]: FORGED } }));
  await hub.post('/zones', { type: FORGED, name: FORGED, foreign_id: FORGED });
  await hub.get(`/providers/${encodeURIComponent(FORGED)}`);
  const { stderr } = await hub.stop();
  for (const line of stderr.split('\n').filter(Boolean)) {
    const { level } = JSON.parse(line);
    assert.ok(level < 50, line);
  }
});
