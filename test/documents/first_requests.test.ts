import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { openTestHub } from '../support/running_hub.ts';
import { documentOf, ROOT, readDocuments, section } from './documents.ts';

const TOOLS = ['bash', 'curl'];
const missing = TOOLS.filter(
  (tool) => !(process.env['PATH'] ?? '').split(delimiter).some((f) => existsSync(join(f, tool))),
);
const skip = missing.length > 0 && `needs ${missing.join(' and ')}`;

test('The first requests of README.md have the documented results', { skip }, async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  const events = await hub.subscribe('fence_events');
  const readme = readDocuments().find(({ path }) => path === 'README.md');
  assert.ok(readme);
  const { blocks } = documentOf('README.md', section(readme, 'First requests'));
  // `npm run tail` runs until it is stopped. The subscription above receives the same events.
  const pasted = blocks.filter(({ text }) => !text.startsWith('npm run tail')).map(({ text }) => text);
  assert.equal(pasted.length, blocks.length - 1);
  const script = pasted.join('\n').replaceAll('127.0.0.1:8081', `127.0.0.1:${hub.hub.port}`);

  const child = spawn('bash', ['-e', '-c', script], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  assert.equal(code, 0, err);
  assert.doesNotMatch(out, /"code":\s?[45]\d\d/);
  await hub.settle();

  const { body: motion } = await hub.get('/trackables/0b680db2-b39b-45be-be77-40d7d2296cb4/motion');
  assert.equal(motion['location'].source, 'hall-1');
  assert.match(out, /"coordinates":\[20,20\]/, 'the location is not answered in the coordinates of the zone');
  assert.match(out, /"event":"subscribed"/);
  assert.match(out, /"coordinates":\[21,20\]/, 'the published location is not returned');
  const entered = events.events.map(({ event_type }) => event_type);
  assert.ok(entered.includes('region_entry'), `found ${entered}`);
});
