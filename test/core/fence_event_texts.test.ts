import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { projection } from '../../src/core/geo/crs.ts';
import type { Fence } from '../../src/model/fence.ts';
import type { Variant } from '../../src/model/topics.ts';
import { HALL, square } from '../support/hall.ts';
import { fence, inHall, iso, locationAt, ShardHarness, trackable, zone } from '../support/shard_harness.ts';

type View = Omit<Variant, 'id' | 'topic'>;

interface Feature {
  readonly type: string;
  readonly geometry: { readonly type: string; readonly coordinates: number[][][] & number[] };
  readonly properties: Record<string, unknown>;
}

/** Serialized events of the first entry and exit of the tag, in a view. */
async function textsIn(view: View, more: Partial<Fence> = {}): Promise<object[]> {
  const harness = await ShardHarness.open();
  harness.tell(0, { kind: 'variants', variants: [{ ...view, id: 9, topic: 'fence_events' }] });
  harness.tell(0, zone(), fence(square({ id: 'dock', ...more })));
  harness.tell(1, inHall(1, [5, 5]));
  harness.tell(2.25, inHall(2.25, [50, 5]));
  return harness.events.map(({ text }) => JSON.parse(text));
}

async function featureIn(view: View, more: Partial<Fence> = {}): Promise<Feature | undefined> {
  const [found] = (await textsIn({ ...view, geojson: true }, more)) as { type: string; features: Feature[] }[];
  if (found === undefined) return undefined;
  assert.equal(found.type, 'FeatureCollection');
  assert.equal(found.features.length, 1);
  return found.features[0];
}

describe('a fence event', () => {
  test('names fence, object and times', async () => {
    assert.deepEqual(await textsIn({ crs: 'EPSG:4326' }), [
      {
        id: 'event-1',
        fence_id: 'dock',
        event_type: 'region_entry',
        provider_id: 'tag',
        trackable_id: null,
        trackables: [],
        entry_time: iso(1),
      },
      {
        id: 'event-2',
        fence_id: 'dock',
        event_type: 'region_exit',
        provider_id: 'tag',
        trackable_id: null,
        trackables: [],
        entry_time: iso(1),
        exit_time: iso(2.25),
      },
    ]);
  });

  test('of a trackable names no provider, and the trackable as the only one', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), fence(square({ id: 'dock' })), trackable('cart', ['tag']), trackable('box', ['tag']));
    harness.tell(1, inHall(1, [5, 5]));
    const objects = harness.observed.fenceEvents.map((event) => [
      event.provider_id,
      event.trackable_id,
      event.trackables,
    ]);
    assert.deepEqual(objects, [
      ['tag', null, ['box', 'cart']],
      [null, 'box', ['box']],
      [null, 'cart', ['cart']],
    ]);
  });

  test('copies foreign id and properties of its fence', async () => {
    const more = { foreign_id: 'gate "1"', properties: { colour: 'red', list: [1, { a: null }] }, name: 'Dock' };
    for (const event of (await textsIn({ crs: 'EPSG:4326' }, more)) as Record<string, unknown>[]) {
      assert.equal(event['foreign_id'], more.foreign_id);
      assert.deepEqual(event['properties'], more.properties);
      assert.equal('name' in event, false);
    }
  });

  test('has its own id, which is the same in all representations', async () => {
    const harness = await ShardHarness.open();
    const views: View[] = [{ crs: 'EPSG:4326' }, { crs: 'EPSG:4326', geojson: true }, { crs: 'local', geojson: true }];
    const variants = views.map((view, id): Variant => ({ ...view, id, topic: 'fence_events' }));
    harness.tell(0, { kind: 'variants', variants }, zone(), fence(square({ id: 'dock' })), trackable('cart', ['tag']));
    harness.tell(1, inHall(1, [5, 5]));
    const ids = harness.events.map(({ variant, text }) => {
      const event = JSON.parse(text);
      return `${variant} ${event.id ?? event.features[0].properties.id}`;
    });
    const expected = [0, 1, 2].flatMap((variant) => [`${variant} event-1`, `${variant} event-2`]);
    assert.deepEqual(ids, expected);
  });
});

describe('a fence event as GeoJSON', () => {
  test('has the event as properties, its own properties nested, with name, floor and radius of the fence', async () => {
    const region = { type: 'Point' as const, coordinates: [5, 5] };
    const more = { region, radius: 3, floor: 0, name: 'Dock', foreign_id: 'gate', properties: { colour: 'red' } };
    const [event] = await textsIn({ crs: 'EPSG:4326' }, more);
    const feature = await featureIn({ crs: 'local' }, more);
    assert.deepEqual(feature?.properties, { ...event, name: 'Dock', floor: 0, radius: 3 });
    assert.deepEqual(feature?.geometry, region);
  });

  test('omits members that neither event nor fence have', async () => {
    const [event] = await textsIn({ crs: 'EPSG:4326' });
    assert.deepEqual((await featureIn({ crs: 'EPSG:4326' }))?.properties, event);
  });

  test('has the stored region if that is in the requested crs', async () => {
    for (const zoneId of [undefined, HALL.id, 'hall']) {
      const feature = await featureIn({ crs: 'local', ...(zoneId !== undefined && { zoneId }) });
      assert.deepEqual(feature?.geometry, square().region);
    }
  });

  test('has the region on the earth for EPSG:4326, rounded to a billionth of a degree', async () => {
    const feature = await featureIn({ crs: 'EPSG:4326' });
    const [, , [lon = 0, lat = 0] = []] = feature?.geometry.coordinates[0] ?? [];
    assert.ok(Math.abs(lon - 9.00013948) < 1e-7, String(lon));
    assert.ok(Math.abs(lat - 50.00008989) < 1e-7, String(lat));
    assert.deepEqual(
      [lon, lat],
      [lon, lat].map((value) => Math.round(value * 1e9) / 1e9),
    );
  });

  test('has the region in a projection, rounded to a tenth of a millimeter', async () => {
    const feature = await featureIn({ crs: 'EPSG:32632' });
    const [, , [x = 0, y = 0] = []] = feature?.geometry.coordinates[0] ?? [];
    assert.ok(Math.abs(x - 500_010) < 0.02, String(x));
    assert.deepEqual(
      [x, y],
      [x, y].map((value) => Math.round(value * 1e4) / 1e4),
    );
  });

  test('has a region across the antimeridian in a projection beyond it', async () => {
    const ring = [
      [179.9999, 0],
      [180.0001, 0],
      [180.0001, 0.0001],
      [179.9999, 0.0001],
      [179.9999, 0],
    ];
    const harness = await ShardHarness.open();
    const variants: Variant[] = [{ id: 9, topic: 'fence_events', crs: 'EPSG:32660', geojson: true }];
    const region = { type: 'Polygon' as const, coordinates: [ring] };
    harness.tell(0, { kind: 'variants', variants }, fence({ id: 'dock', region }));
    harness.tell(1, locationAt(1, -179.99995, 0.00005));
    const { features } = JSON.parse(harness.events[0]?.text as string) as { features: [Feature] };
    const out: [number, number] = [0, 0];
    projection('EPSG:32660')?.fromWgs84(-179.9999, 0.0001, out);
    const [, , [x = 0, y = 0] = []] = features[0].geometry.coordinates[0] ?? [];
    assert.ok(Math.abs(x - out[0]) < 0.001 && Math.abs(y - out[1]) < 0.001, `${[x, y]} ${out}`);
  });

  test('is omitted if the region cannot be converted', async () => {
    assert.equal(await featureIn({ crs: 'local', zoneId: 'nowhere' }), undefined);
    const region = { type: 'Point' as const, coordinates: [9.00005, 50.00005] };
    assert.equal(await featureIn({ crs: 'local' }, { region, radius: 10, crs: 'EPSG:4326', zone_id: null }), undefined);
    const feature = await featureIn({ crs: 'local', zoneId: HALL.id }, { region, radius: 10, crs: 'EPSG:4326' });
    assert.ok(Math.abs((feature?.geometry.coordinates[0] as unknown as number) - 3.58) < 0.01);
  });
});

test('The fence events of a step in a journal are in its outcome once, whatever views are requested', async () => {
  const harness = await ShardHarness.open();
  const views: View[] = [{ crs: 'EPSG:4326', geojson: true }, { crs: 'EPSG:4326' }, { crs: 'local' }];
  const variants = views.map((view, id): Variant => ({ ...view, id, topic: 'fence_events' }));
  harness.tell(0, { kind: 'variants', variants }, zone(), fence(square({ id: 'dock' })));
  harness.position = { shard: 1, step: 8 };
  harness.tell(1, inHall(1, [5, 5]));
  const { fenceEvents } = harness.outcomes.at(-1) ?? { fenceEvents: [] };
  const text = harness.events.find(({ variant }) => variant === 1)?.text;
  assert.deepEqual(fenceEvents, [[['dock', undefined, 'tag', undefined, 'region_entry', 'location_provider'], text]]);
  harness.tell(2, { kind: 'variants', variants: [] }, inHall(2, [50, 5]));
  assert.deepEqual(harness.outcomes.at(-1)?.fenceEvents, [], 'without subscribers');
  harness.position = undefined;
  harness.tell(3, { kind: 'variants', variants }, inHall(3, [5, 5]));
  assert.ok((harness.outcomes.at(-1)?.events.length ?? 0) > 0);
  assert.deepEqual(harness.outcomes.at(-1)?.fenceEvents, [], 'without a journal');
});
