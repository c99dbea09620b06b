import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestHub } from '../support/running_hub.ts';
import { documentOf, readDocuments, section } from './documents.ts';
import { pasted, whyNotPasted } from './pasted.ts';

const skip = whyNotPasted();

test('The first requests of README.md have the documented results', { skip }, async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  const events = await hub.subscribe('fence_events');
  const readme = readDocuments().find(({ path }) => path === 'README.md');
  assert.ok(readme);
  // `npm run tail` runs until it is stopped. The subscription above receives the same events.
  const out = await pasted(documentOf('README.md', section(readme, 'First requests')), {
    replaced: { '127.0.0.1:8081': `127.0.0.1:${hub.hub.port}` },
    without: ['npm run tail'],
  });
  await hub.settle();

  const { body: motion } = await hub.get('/trackables/0b680db2-b39b-45be-be77-40d7d2296cb4/motion');
  assert.equal(motion['location'].source, 'hall-1');
  assert.match(out, /"coordinates":\[20,20\]/, 'the location is not answered in the coordinates of the zone');
  assert.match(out, /"event":"subscribed"/);
  assert.match(out, /"coordinates":\[21,20\]/, 'the published location is not returned');
  const entered = events.events.map(({ event_type }) => event_type);
  assert.ok(entered.includes('region_entry'), `found ${entered}`);
});
