import assert from 'node:assert/strict';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, describe, test } from 'node:test';
import { runCliIn } from '../cli/run_cli.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { freePort, installClient, type Line, runClient } from './opcua_client.ts';

const tool = await installClient();

const PERMISSIONS = `
reader:
  '/v2/*': [READ_ANY]
part:
  '/v2/zones': [READ_ANY]
admin:
  '/v2/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
`;
const HALL = {
  type: 'uwb',
  name: 'Hall 1',
  foreign_id: 'hall-1',
  site: 'Plant',
  floor: 2,
  ground_control_points: [
    ...[
      [13.4, 52.5],
      [0, 0],
    ],
    ...[
      [13.41, 52.5],
      [679, 0],
    ],
    ...[
      [13.4, 52.51],
      [0, 1113],
    ],
  ],
};
const DOCK = {
  type: 'rfid',
  name: 'Dock',
  foreign_id: 'dock',
  position: { type: 'Point', coordinates: [13.4, 52.5] },
  radius: 3,
};

interface Value {
  readonly value: unknown;
  readonly status: string;
  readonly at: string;
  readonly type: string;
  readonly id: string;
  readonly below: Readonly<Record<string, Value>>;
}

interface Node {
  readonly name: string;
  readonly id: string;
  readonly type: string;
  readonly has: Readonly<Record<string, Value>>;
}

interface Site {
  readonly gpos: number;
  readonly supertype: string;
  readonly zones: readonly Node[];
  readonly trackables: readonly Node[];
}

async function opened(t: TestContext, settings = {}): Promise<{ hub: TestHub; port: number; folder: string }> {
  const [port, folder] = [await freePort(), temporaryFolder()];
  const hub = await openTestHub({ opcua_port: port, ...settings }, { isAlone: true });
  t.after(hub.close);
  return { hub, port, folder };
}

/** Repeats a read until it fulfills a condition. Changes reach clients a moment after the replies of the API. */
async function siteWhen(read: () => Promise<readonly Line[]>, holds: (site: Site) => boolean): Promise<Site> {
  for (let left = 20; ; left--) {
    const [site] = (await read()) as unknown as readonly Site[];
    assert.ok(site);
    if (holds(site)) return site;
    assert.ok(left > 0, JSON.stringify(site));
  }
}

function locate(hub: TestHub, longitude: number, latitude: number, more: object = {}) {
  const position = { type: 'Point', coordinates: [longitude, latitude] };
  return hub.put('/providers/tag/location', {
    ...{ position, crs: 'EPSG:4326', provider_id: 'tag', provider_type: 'uwb', source: 'hall-1' },
    ...more,
  });
}

describe('A client of OPC UA in Python', { skip: tool.skip }, () => {
  test('reads zones and trackables by the types of OPC 10000-211', async (t) => {
    const { hub, port, folder } = await opened(t);
    const zone = (await hub.post('/zones', HALL)).body as { id: string };
    await hub.post('/zones', DOCK);
    const trackable = { type: 'omlox', name: 'Forklift', location_providers: ['tag'] };
    const { id } = (await hub.post('/trackables', trackable)).body as { id: string };
    await hub.post('/trackables', { type: 'omlox', name: 'Parked' });
    const at = '2026-07-01T10:00:00.250Z';
    await locate(hub, 13.405, 52.504, { accuracy: 0.5, timestamp_generated: at });
    const read = () => runClient(tool, 'read', { port, folder });
    const site = await siteWhen(read, ({ trackables, zones }) => {
      const position = trackables[0]?.has['GlobalLocation']?.below['Position'];
      return trackables.length === 2 && zones.length === 2 && position?.status === 'Good';
    });

    const type = (n: number) => `ns=${site.gpos};i=${n}`;
    assert.match(site.supertype, /^ns=\d+;i=2003$/);
    assert.notEqual(site.supertype, type(2003));
    const [hall, dock] = site.zones;
    assert.deepEqual([hall?.name, hall?.type, dock?.name], ['Hall 1', type(1005), 'Dock']);
    const valuesOf = (node: Node | undefined) =>
      Object.fromEntries(Object.entries(node?.has ?? {}).map(([name, { value }]) => [name, value]));
    assert.deepEqual(valuesOf(hall), {
      ...{ ZoneId: zone.id, Site: 'Plant', Floor: '2', IncompleteConfiguration: false },
      GroundControlPoints: HALL.ground_control_points.flatMap(([Longitude, Latitude], row, rows) => {
        const [X, Y] = rows[row + 1] ?? [];
        if (row % 2 === 1) return [];
        return [{ GlobalPosition: { Longitude, Latitude, Elevation: null }, LocalPosition: { X, Y, Z: 0 } }];
      }),
    });
    assert.deepEqual(
      [dock?.has['Position']?.value, dock?.has['Radius']?.value],
      [{ Longitude: 13.4, Latitude: 52.5, Elevation: null }, 3],
    );

    const [forklift, parked] = site.trackables;
    const location = forklift?.has['GlobalLocation'];
    assert.deepEqual([forklift?.name, location?.type], ['Forklift', type(2003)]);
    const position = { Longitude: 13.405, Latitude: 52.504, Elevation: null, Accuracy: 0.5, Floor: 2 };
    assert.deepEqual(location?.value, { Position: position, Orientation: null });
    assert.equal(Date.parse(`${location?.at.replace(' ', 'T')}Z`.replace(/\+00:00Z$/, 'Z')), Date.parse(at));
    assert.equal(location?.id, `${forklift?.id.split(';')[0]};s=trackables/${id}/GlobalLocation`);
    const below = location?.below['Position'];
    assert.deepEqual([below?.type, below?.value], [type(2006), position]);
    const parts = valuesOf({ has: below?.below ?? {} } as Node);
    assert.deepEqual(
      [parts['Longitude'], parts['Latitude'], parts['Accuracy'], parts['Floor'], parts['SourceId']],
      [13.405, 52.504, 0.5, 2, hall?.id],
    );
    assert.equal(parts['CoordinateReferenceSystem'], 4326);
    assert.equal(location?.below['Base']?.value, 'i=0');
    assert.equal(parked?.has['GlobalLocation']?.status, 'BadWaitingForInitialData');
  });

  test('receives positions of moving trackables, and follows changes of entities', async (t) => {
    const { hub, port, folder } = await opened(t);
    const zone = (await hub.post('/zones', HALL)).body as { id: string };
    const trackable = { type: 'omlox', name: 'Forklift', location_providers: ['tag'] };
    const { id } = (await hub.post('/trackables', trackable)).body as { id: string };
    const read = () => runClient(tool, 'read', { port, folder });
    await siteWhen(read, ({ trackables }) => trackables.length === 1);
    await runClient(tool, 'follow', { port, folder }, async (lines) => {
      const next = async (value: number) => {
        for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
          if (line.value['value'] === value) return;
        }
        assert.fail(`the client has not received ${value}`);
      };
      for (const latitude of [52.501, 52.502, 52.503]) {
        await locate(hub, 13.405, latitude);
        await next(latitude);
      }
    });
    await hub.put(`/trackables/${id}`, { ...trackable, id, name: 'Truck' });
    await hub.request('DELETE', `/zones/${zone.id}`);
    await siteWhen(read, ({ trackables, zones }) => trackables[0]?.name === 'Truck' && zones.length === 0);
    await hub.request('DELETE', `/trackables/${id}`);
    await siteWhen(read, ({ trackables }) => trackables.length === 0);
  });

  test('sees positions from before the restart of a hub, under the same ids, and cannot change anything', async (t) => {
    const [port, data, folder] = [await freePort(), temporaryFolder(), temporaryFolder()];
    const read = () => runClient(tool, 'read', { port, folder });
    const isLocated = ({ trackables }: Site) => trackables[0]?.has['GlobalLocation']?.status === 'Good';
    const shown = ({ trackables }: Site) =>
      trackables.map(({ id, has }) => {
        const { value, at } = has['GlobalLocation'] as Value;
        return [id, value, at, has['GlobalLocation']?.id];
      });
    const open = () => openTestHub({ opcua_port: port }, { isAlone: true, folder: data });
    const first = await open();
    t.after(first.close);
    await first.post('/trackables', { type: 'omlox', name: 'Forklift', location_providers: ['tag'] });
    await locate(first, 13.405, 52.504);
    const before = await siteWhen(read, isLocated);
    await first.close();
    const second = await open();
    t.after(second.close);
    const after = await siteWhen(read, isLocated);
    assert.deepEqual(shown(after), shown(before));
    const [attempts] = await runClient(tool, 'write', { port, folder });
    assert.equal(attempts?.['write'], 'BadNotWritable');
    assert.match(String(attempts?.['add']), /^Bad/);
    assert.deepEqual(shown(await siteWhen(read, isLocated)), shown(before));
  });

  test('without encryption is rejected, unless the setting permits it', async (t) => {
    const { port, folder } = await opened(t);
    for (const mode of ['None', 'Sign'] as const) {
      const [line] = await runClient(tool, 'read', { port, folder, mode });
      assert.equal(line?.what, 'rejected', mode);
    }
    const open = await opened(t, { opcua_security: 'None' });
    for (const mode of ['None', 'Sign', 'SignAndEncrypt'] as const) {
      const [line] = await runClient(tool, 'read', { ...open, mode });
      assert.equal(line?.what, 'site', mode);
    }
  });

  test('needs an API key that permits to read everything, and loses its session with the key', async (t) => {
    const [port, folder, data] = [await freePort(), temporaryFolder(), temporaryFolder()];
    await writeFile(join(data, 'permissions.yaml'), PERMISSIONS);
    const created = await runCliIn(data, 'keys', 'create', 'First', '--role', 'admin', '--offline');
    assert.equal(created.code, 0, created.err);
    const settings = { opcua_port: port, require_authorization: true };
    const hub = await openTestHub(settings, { isAlone: true, folder: data });
    t.after(hub.close);
    const authorization = { Authorization: `Bearer ${created.out.trim()}` };
    const keyOf = async (role: string) => {
      const reply = await hub.request('POST', '/keys', { name: role, roles: [role] }, authorization);
      assert.equal(reply.status, 201, reply.text);
      return reply.body as { readonly id: string; readonly key: string };
    };
    const [reader, part] = [await keyOf('reader'), await keyOf('part')];
    const body = { type: 'omlox', name: 'Forklift' };
    assert.equal((await hub.request('POST', '/trackables', body, authorization)).status, 201);
    for (const [why, password] of [
      ...([
        ['no key', undefined],
        ['a certificate', 'certificate'],
      ] as const),
      ...([
        ['a wrong key', 'olh_0'],
        ['a key for a part', part.key],
      ] as const),
    ]) {
      const [line] = await runClient(tool, 'read', { port, folder, ...(password !== undefined && { password }) });
      assert.equal(line?.what, 'rejected', why);
    }
    const [line] = await runClient(tool, 'read', { port, folder, password: reader.key });
    assert.equal(line?.what, 'site');
    const lines = await runClient(tool, 'follow', { port, folder, password: reader.key }, async (said) => {
      assert.equal((await said.next()).value.what, 'following');
      const revoked = await hub.request('POST', `/keys/${reader.id}/revoke`, undefined, authorization);
      assert.ok(revoked.status < 300, revoked.text);
      while ((await said.next()).value?.what === 'value');
    });
    assert.equal(lines.at(-1)?.what, 'lost');
  });

  test('is rejected if its certificate is not in the folder of trusted clients', async (t) => {
    const { port, folder } = await opened(t);
    // Creates the certificate.
    await runClient(tool, 'read', { port, folder });
    const trustedFolder = temporaryFolder();
    await copyFile(join(folder, 'client.der'), join(trustedFolder, 'client.der'));
    const trusted = await opened(t, { opcua_trusted_clients_path: trustedFolder });
    const [line] = await runClient(tool, 'read', { port: trusted.port, folder });
    assert.equal(line?.what, 'site');
    const [other] = await runClient(tool, 'read', trusted);
    assert.equal(other?.what, 'rejected');
  });
});
