import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FenceEvent } from '../../src/model/events.ts';
import type { FilterFields } from '../../src/model/topics.ts';
import { point, polygon, UUID_A, UUID_B } from '../entities/open_entities.ts';
import { HALL, square } from '../support/hall.ts';
import { assertNear, openApi } from './open_api.ts';

const NOW = '2026-03-01T12:00:00.000Z';
const FENCE = { id: 'f', region: polygon(), foreign_id: 'dock', name: 'Dock', floor: 1, properties: { gate: 7 } };

const POLYGON = polygon();

/** The API with the fence `f`, and its published events. */
async function withFence() {
  const api = openApi();
  await api.entities.create('fence', FENCE);
  await api.entities.create('trackable', { id: UUID_A, type: 'omlox', location_providers: ['tag'] });
  const events: FenceEvent[] = [];
  const fields: FilterFields[] = [];
  api.fanout.subscribe(
    { deliver: (_, { strings: texts }) => void events.push(...texts.map((text) => JSON.parse(text) as FenceEvent)) },
    {
      topic: 'fence_events',
      view: { crs: 'EPSG:4326' },
      filter(seen) {
        fields.push(seen);
        return true;
      },
    },
  );
  return { ...api, events, fields };
}

const PLAIN = {
  fence_id: 'f',
  event_type: 'region_entry',
  provider_id: 'lone',
  trackable_id: null,
  trackables: [],
  foreign_id: 'dock',
  entry_time: NOW,
  properties: { gate: 7 },
};

const PUBLISHED: readonly (readonly [what: string, sent: object, expected: object])[] = [
  ['an event type and a provider alone', {}, PLAIN],
  ['an id of its own', { id: 'mine' }, PLAIN],
  ['the fence of the path', { fence_id: PLAIN.fence_id }, PLAIN],
  ['no fence', { fence_id: null }, PLAIN],
  ['a provider', { provider_id: 'tag' }, { ...PLAIN, provider_id: 'tag', trackables: [UUID_A] }],
  [
    'a trackable',
    { provider_id: null, trackable_id: UUID_B },
    { ...PLAIN, provider_id: null, trackable_id: UUID_B, trackables: [UUID_B] },
  ],
  ['trackables', { provider_id: 'tag', trackables: [] }, { ...PLAIN, provider_id: 'tag' }],
  ['the nil UUID for no trackable', { trackable_id: '00000000-0000-0000-0000-000000000000' }, PLAIN],
  ['nulls', { trackable_id: null, properties: null, foreign_id: null, exit_time: null, trackables: null }, PLAIN],
  [
    'members that default to those of the fence',
    { foreign_id: 'x', properties: {}, entry_time: '2026-03-01T11:00:00+01:00' },
    { ...PLAIN, foreign_id: 'x', properties: {}, entry_time: '2026-03-01T11:00:00+01:00' },
  ],
  ['an exit time of an entry', { exit_time: NOW }, PLAIN],
  ['an exit', { event_type: 'region_exit' }, { ...PLAIN, event_type: 'region_exit', exit_time: NOW }],
  [
    'an exit with both times',
    { event_type: 'region_exit', entry_time: '2026-03-01T10:00:00Z', exit_time: '2026-03-01T11:00:00Z' },
    {
      ...PLAIN,
      event_type: 'region_exit',
      entry_time: '2026-03-01T10:00:00Z',
      exit_time: '2026-03-01T11:00:00Z',
    },
  ],
  [
    'an exit with its time alone',
    { event_type: 'region_exit', exit_time: '2026-03-01T11:00:00Z' },
    { ...PLAIN, event_type: 'region_exit', entry_time: '2026-03-01T11:00:00Z', exit_time: '2026-03-01T11:00:00Z' },
  ],
];

const REFUSED: readonly (readonly [what: string, sent: unknown, message: RegExp])[] = [
  ['no event type', {}, /^event_type: is required, but is missing$/],
  ['an unknown event type', { event_type: 'enter' }, /^event_type: must be one of region_entry, .*"enter"$/],
  ['no object', [{ event_type: 'region_entry' }], /^body: must be an object/],
  [
    'an invalid time',
    { event_type: 'region_entry', provider_id: 'tag', entry_time: 'noon' },
    /^entry_time: must be an RFC 3339 .*"noon"$/,
  ],
  ['a number as time', { event_type: 'region_exit', exit_time: 5 }, /^exit_time: must be a string, found 5$/],
  [
    'an exit before its entry',
    {
      event_type: 'region_exit',
      provider_id: 'tag',
      entry_time: '2026-03-01T11:00:00Z',
      exit_time: '2026-03-01T10:00:00Z',
    },
    /^exit_time: must not be before entry_time, found "2026-03-01T10:00:00Z"$/,
  ],
  [
    'an entry in the future of an exit',
    { event_type: 'region_exit', provider_id: 'tag', entry_time: '2027-03-01T11:00:00Z' },
    /^exit_time: must not be before entry_time/,
  ],
  [
    'neither provider nor trackable',
    { event_type: 'region_entry', provider_id: '', trackable_id: null },
    /^provider_id: exactly one of provider_id and trackable_id is required, found nothing$/,
  ],
  [
    'both provider and trackable',
    { event_type: 'region_exit', provider_id: 'tag', trackable_id: UUID_A },
    /^provider_id: exactly one of provider_id and trackable_id is required, found \["tag","0b680db2/,
  ],
  [
    'another fence than that of the path',
    { event_type: 'region_entry', provider_id: 'lone', fence_id: 'other' },
    /^fence_id: must be "f" as in the path, found "other"$/,
  ],
  [
    'a number as fence',
    { event_type: 'region_entry', provider_id: 'lone', fence_id: 7 },
    /^fence_id: must be a string, found 7$/,
  ],
  ['invalid properties', { event_type: 'region_entry', properties: 'x' }, /^properties: must be an object/],
  ['invalid trackables', { event_type: 'region_entry', trackables: [1] }, /^trackables\[0\]: must be a string/],
];

for (const method of ['POST', 'PUT']) {
  describe(`${method} /fences/{id}/events`, () => {
    for (const [what, sent, expected] of PUBLISHED) {
      it(`publishes ${what}`, async () => {
        const { send, events, entities, asked } = await withFence();
        const body = { event_type: 'region_entry', provider_id: 'lone', ...sent };
        const reply = await send(method, '/v2/fences/f/events', body);
        assert.deepEqual([reply.status, reply.body], [204, undefined]);
        const [event, ...more] = events;
        const { id, ...rest } = event ?? assert.fail('nothing was published');
        assert.deepEqual([rest, more], [expected, []]);
        assert.match(id, /^[0-9a-f]{8}-/);
        assert.deepEqual([asked, entities.count('provider')], [[], 0]);
      });
    }

    for (const [what, sent, message] of REFUSED) {
      it(`answers 400 to ${what}`, async () => {
        const { send, events } = await withFence();
        const { status, body } = await send(method, '/v1/fences/f/events', sent);
        assert.equal(status, 400);
        assert.match(body.message, message);
        assert.deepEqual(events, []);
      });
    }

    it('answers 404 for an unknown fence', async () => {
      const { send } = await withFence();
      assert.equal((await send(method, '/v2/fences/dock/events', { event_type: 'region_entry' })).status, 404);
    });
  });
}

describe('fence events of third parties', () => {
  it('carry the fields that subscribers filter by', async () => {
    const { send, fields } = await withFence();
    await send('POST', '/v2/fences/f/events', { event_type: 'region_exit', provider_id: 'tag' });
    await send('POST', '/v2/fences/f/events', { event_type: 'region_entry', trackable_id: UUID_A, foreign_id: 'x' });
    assert.deepEqual(fields, [
      ['f', 'dock', 'tag', undefined, 'region_exit', 'location_provider'],
      ['f', 'x', undefined, UUID_A, 'region_entry', 'trackable'],
    ]);
  });

  it('are returned as GeoJSON in the view of each subscriber', async () => {
    const { send, entities, fanout } = await withFence();
    await entities.create('zone', HALL);
    await entities.create('fence', square({ name: 'Square' }));
    await entities.create('fence', { id: 'far', region: point(99, 0), radius: 3 });
    const shown: Record<string, unknown[]> = {};
    for (const [name, view] of Object.entries({
      wgs84: { crs: 'EPSG:4326', geojson: true },
      local: { crs: 'local', zoneId: HALL.id, geojson: true },
      text: { crs: 'local', zoneId: HALL.id },
    })) {
      shown[name] = [];
      fanout.subscribe(
        {
          deliver: (_, { strings: texts }) =>
            void shown[name]?.push(...texts.map((text) => JSON.parse(text) as unknown)),
        },
        { topic: 'fence_events', view },
      );
    }
    await send('POST', `/v2/fences/${square().id}/events`, { event_type: 'region_entry', provider_id: 'tag' });
    const [event] = shown['text'] ?? [];
    const [local] = shown['local'] ?? [];
    const properties = { ...(event as object), name: 'Square' };
    assert.deepEqual(local, {
      type: 'FeatureCollection',
      features: [{ type: 'Feature', geometry: square().region, properties }],
    });
    const [{ features } = { features: [] }] = shown['wgs84'] as { features: { geometry: typeof POLYGON }[] }[];
    const [lon, lat] = features[0]?.geometry.coordinates[0]?.[2] ?? [];
    assertNear(lon, 9.0001394785, 1e-7);
    assertNear(lat, 50.0000898919, 1e-7);
    // A fence beyond the reach of the zone's projection cannot be converted.
    await send('POST', '/v2/fences/far/events', { event_type: 'region_entry', provider_id: 'tag' });
    assert.deepEqual([shown['wgs84']?.length, shown['local']?.length, shown['text']?.length], [2, 1, 2]);
  });
});
