import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gps } from '../support/hall.ts';
import { openTestHub } from '../support/running_hub.ts';

const MARK = '\uFEFF';
/** Longer bodies and frames are parsed in chunks. */
const MANY = 4000;

function manyOf(name: string): readonly object[] {
  return Array.from({ length: MANY }, (_, i) => gps(`${name}-${i}`));
}

test('the hub accepts bodies and frames with a byte order mark, as written by .NET and PowerShell', async (t) => {
  const hub = await openTestHub();
  t.after(() => hub.close());
  assert.equal((await hub.post('/trackables', `${MARK}{"type":"omlox","name":"Forklift"}`)).status, 201);
  assert.equal((await hub.put('/providers/short/location', MARK + JSON.stringify(gps('short')))).status, 204);
  assert.equal((await hub.put('/providers/locations', MARK + JSON.stringify(manyOf('long')))).status, 204);

  const socket = await hub.socket();
  const ask = (frame: object) => socket.ask(MARK + JSON.stringify(frame));
  assert.equal((await ask({ event: 'subscribe', topic: 'fence_changes' }))[0]?.event, 'subscribed');
  const sent = { event: 'message', topic: 'location_updates' };
  assert.deepEqual(await ask({ ...sent, payload: [gps('frame')] }), []);
  assert.deepEqual(await ask({ ...sent, payload: manyOf('frames') }), []);
  await socket.close();
  for (const id of ['short', `long-${MANY - 1}`, 'frame', `frames-${MANY - 1}`]) {
    assert.equal((await hub.get(`/providers/${id}/location`)).status, 200, id);
  }
});
