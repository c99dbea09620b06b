import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { shownCollection, shownList } from '../../src/api/list_body.ts';
import { smallest } from '../../src/api/page.ts';
import type { LongBody } from '../../src/exchange.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';

let hub: TestHub;
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
/** Ids in random order. */
const NUMBERS = Array.from({ length: 25 }, (_, i) => (i * 7) % 25);
const IDS = NUMBERS.map((n) => `tag ${String(n).padStart(2, '0')} & ä`);
const SORTED = IDS.toSorted();

before(async () => {
  hub = await openTestHub({}, {});
  for (const [i, id] of IDS.entries()) {
    assert.equal((await hub.post('/providers', { id, type: 'uwb' })).status, 201);
    const trackable = { id: uuid(i), type: 'omlox', location_providers: [id] };
    assert.equal((await hub.post('/trackables', trackable)).status, 201);
  }
  const position = { type: 'Point', coordinates: [8, 50] };
  // The last ones have no location.
  const locations = SORTED.slice(0, 20).map((provider_id) => {
    return { position, provider_id, provider_type: 'uwb', source: 's', crs: 'EPSG:4326' };
  });
  assert.equal((await hub.put('/providers/locations', locations)).status, 204);
  await hub.settle();
});
after(() => hub.close());

/** Reads all pages of a list by their links. */
async function pages(path: string): Promise<unknown[][]> {
  const found: unknown[][] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const reply = await hub.get(next.replace('/hub/v2', ''));
    assert.equal(reply.status, 200, reply.text);
    found.push(Array.isArray(reply.body) ? reply.body : reply.body.features);
    const link = reply.headers['link'];
    next = /^<([^>]+)>; rel="next"$/.exec(String(link))?.[1];
    assert.equal(next === undefined, link === undefined, String(link));
  }
  return found;
}

describe('Pages of lists', () => {
  test('return all ids, each once, in order', async () => {
    const found = await pages('/providers?limit=10');
    assert.deepEqual(
      found.map(({ length }) => length),
      [10, 10, 5],
    );
    assert.deepEqual(found.flat(), SORTED);
    assert.equal((await pages('/providers?limit=25')).length, 1);
  });

  const rows: readonly (readonly [path: string, idOf: (item: never) => unknown, count: number])[] = [
    ['/providers/summary', ({ id }: { id: string }) => id, 25],
    ['/trackables', (id: string) => id, 25],
    ['/trackables/summary', ({ id }: { id: string }) => id, 25],
    ['/providers/locations', ({ provider_id: id }: { provider_id: string }) => id, 20],
    ['/trackables/motions', ({ id }: { id: string }) => id, 20],
    ['/zones', (id: string) => id, 0],
    ['/fences/summary', (id: string) => id, 0],
    ['/anchors', (id: string) => id, 0],
    [
      '/providers/locations?geojson&crs=EPSG:32632',
      ({ properties }: { properties: { provider_id: string } }) => properties.provider_id,
      20,
    ],
  ];
  for (const [path, idOf, count] of rows) {
    test(`return everything of ${path} that the whole list returns`, async () => {
      const { body } = await hub.get(path);
      const whole = (Array.isArray(body) ? body : body.features).map(idOf as (item: unknown) => unknown);
      const found = (await pages(`${path}${path.includes('?') ? '&' : '?'}limit=4`)).flat() as never[];
      assert.equal(whole.length, count);
      assert.deepEqual(
        found.map(idOf),
        [...whole].sort((a, b) => (String(a) < String(b) ? -1 : 1)),
      );
    });
  }

  test('continue after a deleted id, and after an unknown one', async () => {
    const [first, second, third] = SORTED as [string, string, string];
    const { headers } = await hub.get('/providers?limit=2');
    assert.ok(String(headers['link']).includes(`cursor=${new URLSearchParams({ '': second }).toString().slice(1)}`));
    assert.equal((await hub.delete(`/providers/${encodeURIComponent(second)}`)).status, 204);
    assert.deepEqual((await hub.get(`/providers?limit=1&cursor=${encodeURIComponent(second)}`)).body, [third]);
    assert.deepEqual((await hub.get('/providers?limit=1&cursor=sun')).body, [first]);
    assert.deepEqual((await hub.get(`/providers?cursor=${encodeURIComponent(SORTED.at(-2) ?? '')}`)).body, [
      SORTED.at(-1),
    ]);
    assert.deepEqual((await hub.get('/providers?limit=3&cursor=zzz')).body, []);
    assert.equal((await hub.post('/providers', { id: second, type: 'uwb' })).status, 201);
  });

  for (const limit of ['0', '-1', '1.5', 'many', '', '9'.repeat(20)]) {
    test(`are rejected for limit=${limit}`, async () => {
      const { status, body } = await hub.get(`/providers?limit=${limit}`);
      assert.equal(status, 400);
      assert.equal(body.message, `limit: must be an integer from 1, found ${JSON.stringify(limit)}`);
    });
  }

  test('are in the OpenAPI document, with the header of the next page', async () => {
    const { body } = await hub.get('/openapi.json');
    const paths = ['/providers', '/zones/summary', '/anchors', '/providers/locations', '/trackables/motions'];
    for (const path of paths) {
      const { parameters, responses } = body.paths[path]?.get ?? body.paths[`/hub/v2${path}`]?.get ?? {};
      const names = JSON.stringify(parameters);
      assert.ok(names.includes('limit') && names.includes('cursor'), `${path}: ${names}`);
      assert.ok('Link' in responses['200'].headers, path);
    }
  });
});

test('smallest finds the first ids of unordered lists in linear time', () => {
  for (const count of [0, 1, 3, 1000, 20_000, Infinity]) {
    const orders: readonly ((i: number) => number)[] = [(i) => i, (i) => -i, (i) => (i * 7919) % 20_011, () => 1];
    for (const order of orders) {
      const list = Array.from({ length: 20_000 }, (_, i) => ({ id: String(1e6 + order(i)) }));
      const expected = list
        .map(({ id }) => id)
        .sort()
        .slice(0, count);
      assert.deepEqual(
        smallest(list, count).map(({ id }) => id),
        expected,
      );
    }
  }
  const many = Array.from({ length: 200_000 }, (_, i) => ({ id: `id ${(i * 7919) % 200_003}` }));
  const start = performance.now();
  smallest(many, 100);
  assert.ok(performance.now() - start < 400);
});

/** Returns the parts of a body that has parts. */
function partsOf(body: string | LongBody): readonly string[] | undefined {
  return typeof body === 'object' ? [...body.parts] : undefined;
}

describe('A list', () => {
  test('is a single string if it is short', () => {
    assert.equal(
      shownList([1, 2, 3], (n) => (n === 2 ? undefined : String(n))),
      '[1,3]',
    );
    assert.equal(
      shownList([], () => '1'),
      '[]',
    );
    assert.equal(
      shownCollection([1], () => '{}'),
      '{"type":"FeatureCollection","features":[{}]}',
    );
  });

  test('is generated in parts on demand if it is long', () => {
    const text = JSON.stringify('ä'.repeat(10_000));
    const shown: number[] = [];
    const items = Array.from({ length: 1000 }, (_, i) => i);
    const body = shownList(items, (i) => {
      shown.push(i);
      return i % 3 === 0 ? undefined : text;
    });
    assert.ok(shown.length < 100, `${shown.length} converted before anything is read`);
    const parts = partsOf(body) ?? [];
    assert.ok(parts.every((part) => part.length <= 80_000));
    assert.deepEqual(shown, items);
    assert.equal(parts.join(''), `[${items.flatMap((i) => (i % 3 === 0 ? [] : [text])).join(',')}]`);
  });

  test('processes a bounded number of items at once, even without results', () => {
    let shown = 0;
    const counts: number[] = [];
    const body = shownList(Array.from({ length: 20_000 }), () => void shown++);
    assert.ok(typeof body === 'object' && 'parts' in body);
    let text = '';
    for (const part of body.parts) {
      counts.push(shown);
      text += part;
    }
    assert.equal(text, '[]');
    assert.equal(counts.at(-1), 20_000);
    const most = counts.slice(4).map((count, i) => count - (counts[i + 3] as number));
    assert.ok(Math.max(...most) <= 2048);
  });
});
