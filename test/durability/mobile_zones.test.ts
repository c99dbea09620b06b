import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestHub } from '../support/running_hub.ts';
import { type Event, SocketClient } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { HubProcess, locationOf } from './hub_process.ts';

const TRUCK = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f01';
const LIST = { 'com.hdm.hub.zone.autozoneupdate.providers': ['gps'] };
const READER = { type: 'rfid', position: { type: 'Point', coordinates: [8, 50] } };

const sockets: SocketClient[] = [];
after(() => Promise.all(sockets.map((socket) => socket.close())));

const eastOf = (zone: Event) => Math.round((zone.position.coordinates[0] - 9) * 71_695.6);

async function eastsOf(hub: HubProcess): Promise<number[]> {
  return ((await hub.get('/zones/summary'))?.body ?? []).map(eastOf);
}

for (const end of ['crash', 'stop'] as const) {
  test(`After a ${end}, mobile zones have their last positions, and follow as before`, async () => {
    const folder = temporaryFolder();
    const first = await HubProcess.start(folder, { num_threads: 2 });
    await first.post('/trackables', { id: TRUCK, type: 'omlox', location_providers: ['gps'] });
    await first.post('/zones', { ...READER, id: 'listed', properties: LIST });
    await first.post('/zones', { ...READER, id: 'carried', parent: TRUCK });
    await first.post('/zones', { ...READER, id: 'child', parent: 'carried' });
    const socket = await SocketClient.open(`${first.base.replace('http', 'ws')}/ws/socket`);
    sockets.push(socket);
    const changes = await socket.subscribe('zone_changes');
    for (const east of [1, 2, 3]) await first.put('/providers/gps/location', locationOf('gps', east));
    // A change is stored before it is published. A stop stores all accepted changes.
    if (end === 'crash') await changes.next(({ id, object }) => id === 'child' && eastOf(object) === 3);
    const { code } = await first[end]();
    if (end === 'stop') assert.equal(code, 0);

    const second = await HubProcess.start(folder, { num_threads: 2 });
    assert.deepEqual(await eastsOf(second), [3, 3, 3]);
    await second.put('/providers/gps/location', locationOf('gps', 7));
    assert.deepEqual(await eastsOf(second), [7, 7, 7]);
    await second.put('/providers/card/proximity', { source: 'child', provider_type: 'rfid' });
    assert.equal(eastOf((await second.get('/providers/card/location'))?.body), 7);
    await second.crash();
  });
}

test('A hub that is closed moves zones to the last location that it has accepted', async (t) => {
  const folder = temporaryFolder();
  const first = await openTestHub({}, { folder });
  await first.post('/zones', { ...READER, id: 'listed', properties: LIST });
  for (const east of [1, 2, 3, 4]) await first.put('/providers/gps/location', locationOf('gps', east));
  await first.close();
  const second = await openTestHub({}, { folder });
  t.after(second.close);
  assert.equal(eastOf((await second.get('/zones/listed')).body), 4);
});
