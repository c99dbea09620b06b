import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { cursorText } from '../../src/history/queries/cursor.ts';
import { type AuthorizedHub, openAuthorizedHub } from '../auth/authorized_hub.ts';
import { openTestHub } from '../support/running_hub.ts';
import type { TestHub } from '../support/test_hub.ts';

const [ANNA, BERT, UNLOCATED] = [1, 2, 3].map((n) => `${n}${'1111111-1111-4111-8111-111111111111'}`) as [
  string,
  string,
  string,
];
const START_MS = Date.parse('2026-03-01T10:00:00Z');
const ROOT = '/ogc/mf';
const ITEMS = `${ROOT}/collections/trackables/items`;
const WAY = `${ITEMS}/${ANNA}/tgsequence`;

const at = (seconds: number): string => new Date(START_MS + 1000 * seconds).toISOString();

interface Geometry {
  readonly datetimes: readonly string[];
  readonly coordinates: readonly (readonly number[])[];
  readonly interpolation: string;
}

interface Way {
  readonly geometrySequence: readonly Geometry[];
  readonly links: readonly { readonly rel: string; readonly href: string }[];
}

/**
 * Anna moves east by a thousandth of a degree every ten seconds, is silent for an hour, and returns. Bert is elsewhere.
 */
async function walk(hub: TestHub): Promise<void> {
  await hub.post('/trackables', { id: ANNA, type: 'omlox', location_providers: ['a'] });
  await hub.post('/trackables', { id: BERT, type: 'omlox', location_providers: ['b'] });
  await hub.post('/trackables', { id: UNLOCATED, type: 'omlox' });
  const put = (id: string, second: number, coordinates: readonly number[]) =>
    hub.put(`/providers/${id}/location`, {
      ...{ provider_id: id, provider_type: 'uwb', source: 'hall', crs: 'EPSG:4326' },
      ...{ position: { type: 'Point', coordinates }, timestamp_generated: at(second) },
    });
  for (let i = 0; i <= 6; i++) await put('a', 10 * i, [8 + i / 1000, 50, i]);
  await put('b', 60, [9, 51]);
  for (let i = 0; i <= 1; i++) await put('a', 3660 + 10 * i, [8.006 - i / 1000, 50, 6]);
  await hub.settle();
}

describe('A hub with history', () => {
  let hub: TestHub;
  before(async () => {
    hub = await openTestHub({ history: true, history_flush_interval: 600_000, history_retention_days: 36_500 });
    await walk(hub);
  });
  after(() => hub.close());
  const get = async (path: string) => {
    const { status, body } = await hub.get(path);
    assert.equal(status, 200, path);
    return body;
  };
  const way = async (query: string): Promise<readonly Geometry[]> => (await get(`${WAY}?${query}`)).geometrySequence;

  test('links from the landing page of Moving Features to each resource', async () => {
    const follow = async (from: { links: { rel: string; href: string }[] }, rel: string) => {
      const { href = '' } = from.links.find((link) => link.rel === rel) ?? {};
      const { status, body } = await hub.get(`${hub.origin}${href}`);
      assert.equal(status, 200, href);
      return body;
    };
    const landing = await get(ROOT);
    assert.ok((await follow(landing, 'conformance')).conformsTo.length > 0);
    assert.equal((await follow(landing, 'service-desc')).openapi, '3.1.0');
    const { collections } = await follow(landing, 'data');
    assert.deepEqual(
      collections.map(({ id }: { id: string }) => id),
      ['trackables', 'providers'],
    );
    const list = await follow(collections[0], 'items');
    assert.deepEqual(
      list.features.map(({ id, time }: { id: string; time: string[] }) => [id, time]),
      [
        [ANNA, [at(0), at(3670)]],
        [BERT, [at(60), at(60)]],
      ],
    );
    const anna = await get(`${ITEMS}/${ANNA.toUpperCase()}`);
    assert.deepEqual([anna.id, anna.bbox], [ANNA, [8, 50, 8.006, 50]]);
    assert.equal((await follow(anna, 'tgsequence')).geometrySequence.length, 2);
  });

  test('lists the features of a time span, page by page', async () => {
    const ids = async (query: string): Promise<readonly string[]> =>
      (await get(`${ITEMS}?${query}`)).features.map(({ id }: { id: string }) => id);
    assert.deepEqual(await ids('bbox=7,49,8.5,52'), [ANNA]);
    assert.deepEqual(await ids('bbox=8.5,49,8.5,52'), []);
    assert.deepEqual(await ids('bbox=8.5,50,7.5,52'), [BERT]);
    assert.deepEqual(await ids('bbox=7,49,100,9,52,200'), [BERT]);
    assert.deepEqual(await ids('bbox=7,49,0,9,52,200'), [ANNA, BERT]);
    assert.deepEqual(await ids(`datetime=${at(60)}`), [ANNA, BERT]);
    assert.deepEqual(await ids(`datetime=../${at(59)}`), [ANNA]);
    assert.deepEqual(await ids(`datetime=${at(61)}/..`), [ANNA]);
    assert.deepEqual(await ids(`datetime=${at(61)}/${at(62)}`), []);
    const first = await get(`${ITEMS}?limit=1&bbox=7,49,10,52`);
    const next = first.links.find(({ rel }: { rel: string }) => rel === 'next').href;
    const second = (await hub.get(`${hub.origin}${next}`)).body;
    assert.deepEqual([first.features[0].id, second.features[0].id, second.links.length], [ANNA, BERT, 1]);
  });

  test('returns a trajectory in pieces without gaps, and each page repeatably', async () => {
    const pieces = await way('');
    assert.deepEqual(
      pieces.map(({ datetimes }) => datetimes),
      [[0, 10, 20, 30, 40, 50, 60].map(at), [3660, 3670].map(at)],
    );
    assert.deepEqual(pieces[0]?.coordinates[2], [8.002, 50, 2]);
    const parts: string[] = [];
    for (let path: string | undefined = `${hub.base}${WAY}?limit=2&datetime=../..`; path !== undefined; ) {
      const { geometrySequence, links }: Way = (await hub.get(path)).body;
      parts.push(...geometrySequence.flatMap(({ datetimes }) => datetimes));
      const next = links.find(({ rel }) => rel === 'next');
      path = next && `${hub.origin}${next.href}`;
    }
    assert.deepEqual(
      parts,
      pieces.flatMap(({ datetimes }) => datetimes),
    );
    assert.deepEqual(
      (await way(`datetime=${at(10)}/${at(20)}`)).map(({ datetimes }) => datetimes),
      [[at(10), at(20)]],
    );
    assert.equal((await way('bbox=8.0,49,8.0041,51')).length, 1);
  });

  test('interpolates positions at instants, and cuts trajectories linearly where possible', async () => {
    const [leaves] = await way(`leaf=${at(-5)},${at(5)},${at(30)},${at(1000)},${at(3665)}`);
    assert.deepEqual(leaves?.datetimes, [5, 30, 3665].map(at));
    const rounded = leaves?.coordinates.map((position) => position.map((each) => Math.round(1e9 * each) / 1e9));
    assert.deepEqual(rounded, [
      [8.0005, 50, 0.5],
      [8.003, 50, 3],
      [8.0055, 50, 6],
    ]);
    assert.equal(leaves?.interpolation, 'Discrete');
    assert.deepEqual((await way(`leaf=${at(5)},${at(15)}&datetime=${at(10)}/..`))[0]?.datetimes, [at(15)]);
    assert.deepEqual((await way(`leaf=${at(5)},${at(15)}&limit=1`))[0]?.datetimes, [at(5)]);
    const cut = await way(`subTrajectory=true&datetime=${at(15)}/${at(32)}`);
    assert.deepEqual(cut[0]?.datetimes, [15, 20, 30, 32].map(at));
    assert.deepEqual(cut[0]?.coordinates[0]?.slice(0, 2), [8.0015, 50]);
    const parts = await Promise.all(
      ['', `&cursor=${cursorText('way', { us: String(1000 * (START_MS + 20_000)) })}`].map((part) => {
        return way(`subTrajectory=true&limit=1&datetime=${at(15)}/${at(32)}${part}`);
      }),
    );
    assert.deepEqual(
      parts.map(([piece]) => piece?.datetimes),
      [
        [at(15), at(20)],
        [at(30), at(32)],
      ],
    );
  });

  for (const [path, message] of [
    [
      `${ITEMS}?datetime=${at(9)}/${at(1)}`,
      `datetime: must be an RFC 3339 date and time, or two of them in their order with a slash between, found "${at(9)}/${at(1)}"`,
    ],
    [
      `${ITEMS}?bbox=1,2,3`,
      'bbox: must be four numbers, west,south,east,north in degrees, or six with heights, found "1,2,3"',
    ],
    [`${WAY}?leaf=now`, 'leaf: must be an RFC 3339 date and time, found "now"'],
    [`${WAY}?leaf=${at(1)}&subTrajectory=true`, 'leaf: must not be given together with subTrajectory'],
    [`${WAY}?subTrajectory=true&datetime=${at(1)}/..`, 'subTrajectory: requires a datetime with both ends'],
    [`${WAY}?cursor=x`, 'cursor: must be the next_cursor of another reply, found "x"'],
  ] as const) {
    test(`rejects ${path}`, async () => {
      const { status, body } = await hub.get(path);
      assert.deepEqual([status, body.message], [400, message]);
    });
  }

  test('finds a feature without locations, but no unknown feature', async () => {
    const { id, time } = await get(`${ITEMS}/${UNLOCATED}`);
    assert.deepEqual([id, time], [UNLOCATED, undefined]);
    assert.equal((await hub.get(`${ITEMS}/nothing`)).status, 404);
    await hub.delete(`/trackables/${BERT}`);
    assert.deepEqual((await get(`${ITEMS}/${BERT}`)).time, [at(60), at(60)]);
  });
});

test('A hub without history has no Moving Features', async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  for (const path of [ROOT, `${ROOT}/collections`, ITEMS, WAY]) assert.equal((await hub.get(path)).status, 404, path);
});

describe('A hub with history that requires tokens', () => {
  let opened: AuthorizedHub;
  let anna: TestHub;
  before(async () => {
    const settings = { history: true, history_retention_days: 36_500 };
    opened = await openAuthorizedHub("own:\n  '/v2/*': [READ_OWN]\n", settings);
    await walk(opened.admin);
    anna = opened.as(await opened.issuer.token({ roles: ['own'], owned: { trackable_ids: [ANNA] } }));
  });
  after(() => opened.close());

  test('returns only trajectories of owned objects', async () => {
    const { features } = (await anna.get(ITEMS)).body;
    assert.deepEqual(
      features.map(({ id }: { id: string }) => id),
      [ANNA],
    );
    assert.deepEqual((await anna.get(`${ROOT}/collections/providers/items`)).body.features, []);
    assert.equal((await anna.get(WAY)).status, 200);
    for (const path of [`${ITEMS}/${BERT}`, `${ITEMS}/${BERT}/tgsequence`, `${ROOT}/collections/providers/items/a`]) {
      assert.equal((await anna.get(path)).status, 403, path);
    }
    assert.equal((await opened.hub.get(ITEMS)).status, 401);
  });
});
