import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pageOf, sortedBy } from '../../src/hub-ui/controls/sort_and_page.ts';
import { type Contents, countAt, type Passage, passagesOf, stepsOf } from '../../src/hub-ui/events/occupancy.ts';
import { bodyOf, documentText, type HubDocument, readDocument } from '../../src/hub-ui/formats/entity_document.ts';
import type { Entities, Kind } from '../../src/hub-ui/hub/entity_kinds.ts';
import type { LoggedEvent } from '../../src/hub-ui/hub/event_log.ts';
import { runAll } from '../../src/hub-ui/hub/run_all.ts';
import { withoutEntitiesAt } from '../../src/hub-ui/lists/left_out.ts';
import { rates, readMetrics, type MetricsSample, sums } from '../../src/hub-ui/operations/metrics.ts';
import { CELLAR, DOCK, FORKLIFT, HALL } from './ui_site.ts';

const SEED = { seed: 20260101, numRuns: 300 };

test('sortedBy compares numbers numerically and strings naturally, and sorts missing values last in both directions', () => {
  const same = (row: string | number | undefined): string | number | undefined => row;
  const cases: readonly [readonly (string | number | undefined)[], unknown[], unknown[]][] = [
    [
      [10, 9, undefined, -1],
      [-1, 9, 10, undefined],
      [10, 9, -1, undefined],
    ],
    [
      ['Cart 10', undefined, 'cart 9'],
      ['cart 9', 'Cart 10', undefined],
      ['Cart 10', 'cart 9', undefined],
    ],
  ];
  for (const [rows, rising, falling] of cases) {
    assert.deepEqual(sortedBy(rows, same, false), rising);
    assert.deepEqual(sortedBy(rows, same, true), falling);
  }
});

test('pageOf shows every row on exactly one page, whatever page is requested', () => {
  fc.assert(
    fc.property(
      fc.nat(300),
      fc.integer({ min: 1, max: 60 }),
      fc.oneof(fc.integer(), fc.double()),
      (count, size, asked) => {
        const rows = Array.from({ length: count }, (_, i) => i);
        const { pages, page, from, to, rows: part } = pageOf(rows, asked, size);
        assert.ok(page >= 1 && page <= pages);
        assert.equal(to - from + (count === 0 ? 0 : 1), part.length);
        const all = Array.from({ length: pages }, (_, i) => pageOf(rows, i + 1, size).rows).flat();
        assert.deepEqual(all, rows);
      },
    ),
    SEED,
  );
});

test('A document survives a round trip of writing and reading', () => {
  const rules = [{ expression: 'accuracy < 3', priority: 1 }];
  const document = documentOf({ zones: [HALL], fences: [DOCK, CELLAR], trackables: [FORKLIFT], providers: [] }, rules);
  const defined = { alert_rules: [{ id: 'r', name: 'Dock' }], views: [] };
  const text = documentText({ ...document, defined }, '2026-01-01T00:00:00Z');
  const read = readDocument(text);
  assert.deepEqual([...read.lists].sort(), [...document.lists].sort());
  assert.deepEqual([read.rules, read.defined], [rules, defined]);
  assert.deepEqual(Object.keys(JSON.parse(text)).slice(-3), ['locating_rules', 'alert_rules', 'views']);
});

test('Alert rules and views of a file are sent unchanged', () => {
  const defined = { alert_rules: [{ id: 'r' }], views: [] };
  const head = { format: 'location-hub-entities', version: 1 };
  const read = readDocument(JSON.stringify({ ...head, ...defined }));
  assert.deepEqual(bodyOf(read), { ...head, ...defined });
  assert.throws(() => readDocument(JSON.stringify({ ...head, views: 7 })), {
    message: 'Views: This must be an array; it is 7.',
  });
  const { document } = withoutEntitiesAt(read, ['alert_rules[0].kind']);
  assert.deepEqual(bodyOf(document), { ...head, views: [] });
});

test('readDocument names the errors of a file', () => {
  const head = '"format": "location-hub-entities", "version": 1';
  const cases = [
    ['{', /^The file is not JSON: /],
    ['[]', /^The file must be one JSON object, found \[\]$/],
    ['{}', /^Format: This must be "location-hub-entities", and is empty\.$/],
    ['{"format": "location-hub-entities", "version": 2}', /^Version: This must be 1; it is 2\.$/],
    [`{${head}, "zones": {}}`, /^Zones: This must be an array; it is {}\.$/],
    [`{${head}, "zones": [{"id": "a"}, null]}`, /^Zones, number 2, id: This must be a string, and is empty\.$/],
    [`{${head}, "locating_rules": 1}`, /^Rules: This must be an array; it is 1\.$/],
  ] as const;
  for (const [text, message] of cases) assert.throws(() => readDocument(text), { message });
});

test('withoutEntitiesAt removes only entities with a problem', () => {
  const document = documentOf({ fences: [DOCK, CELLAR], trackables: [FORKLIFT] }, []);
  const cases: readonly [readonly string[], readonly string[], number, boolean][] = [
    [[], [DOCK.id, CELLAR.id, FORKLIFT.id], 0, true],
    [['fences[1].region.coordinates[0]', 'fences[1].id'], [DOCK.id, FORKLIFT.id], 1, true],
    [['fences[0]', 'trackables[0].radius', 'locating_rules[0].priority'], [CELLAR.id], 2, false],
  ];
  for (const [places, ids, count, withRules] of cases) {
    const { document: rest, count: found } = withoutEntitiesAt(document, places);
    const left = [...rest.lists.values()].flat().map(({ id }) => id);
    assert.deepEqual([left, found, rest.rules !== undefined], [ids, count, withRules], places.join());
  }
});

test('runAll runs at most six tasks at once, and starts none after it is stopped', async () => {
  const stop = new AbortController();
  let [underWay, most, begun] = [0, 0, 0];
  const work = async (item: number): Promise<void> => {
    begun++;
    most = Math.max(most, ++underWay);
    await new Promise(setImmediate);
    underWay--;
    if (item === 10) stop.abort();
  };
  await runAll(
    Array.from({ length: 100 }, (_, i) => i),
    work,
    { signal: stop.signal, onDone: () => undefined },
  );
  assert.equal(most, 6);
  assert.ok(begun > 10 && begun < 30, `found ${begun}`);
});

test('curlOf builds one command with all strings quoted for the shell', async () => {
  // The page's own origin is a part of the command.
  Object.assign(globalThis, { location: { origin: 'http://hub.example' } });
  const { curlOf } = await import('../../src/hub-ui/lists/curl.ts');
  const entity = { ...FORKLIFT, id: 'a/b', name: "Kim's $HOME `id`" } as Entities['trackables'];
  assert.equal(curlOf('GET', 'trackables', entity), "curl 'http://hub.example/hub/v2/trackables/a%2Fb'");
  assert.match(curlOf('PUT', 'trackables', entity), /^curl -X PUT '.*-d '.*Kim'\\''s \$HOME `id`.*'$/s);
});

const passage = (key: number, atMs: number, id: string, isEntry: boolean): Passage => ({ key, atMs, id, isEntry });

test('stepsOf counts backward and forward from the response of the hub', () => {
  const contents: Contents = { ids: ['a', 'b'], key: 2 };
  const passages = [
    passage(1, 10, 'b', true),
    passage(2, 20, 'c', false),
    passage(3, 30, 'b', true),
    passage(4, 40, 'a', false),
  ];
  const steps = stepsOf(contents, passages, { sinceMs: 5 });
  const counts = [4, 5, 10, 20, 30, 40].map((ms) => countAt(steps, ms));
  assert.deepEqual(counts, [null, 2, 3, 2, 2, 1]);
});

test('stepsOf counts events received after the response, whatever their timestamps', () => {
  const steps = stepsOf({ ids: [], key: 0 }, [passage(1, -60_000, 'late', true)], { sinceMs: 0 });
  assert.equal(steps.at(-1)?.count, 1);
  assert.equal(countAt(steps, 0), 1);
});

test('passagesOf takes only events of the counted kind', () => {
  const event = { fence_id: 'f', provider_id: 'p', trackable_id: 't' };
  const events = [
    { is: 'entry', key: 1, atMs: 1, event },
    { is: 'exit', key: 2, atMs: 2, event: { ...event, trackable_id: undefined } },
    { is: 'delete', key: 3, atMs: 3, event: { id: 'f' } },
  ] as unknown as LoggedEvent[];
  const keys = (counted: 'trackables' | 'providers') =>
    passagesOf(events, counted)
      .get('f')
      ?.map(({ key }) => key);
  assert.deepEqual(keys('trackables'), [1]);
  assert.deepEqual(keys('providers'), [1, 2]);
});

test('readMetrics reads samples and leaves out all other lines', () => {
  const text = '# HELP a b\n# TYPE a counter\na 1\nb{x="y z",q="0.5"} 2.5e-3\n\nc{x="}"} +Inf nonsense\n';
  assert.deepEqual(
    [...readMetrics(text)],
    [
      ['a', 1],
      ['b{x="y z",q="0.5"}', 0.0025],
    ],
  );
});

test('rates has a gap after a counter reset, and where samples are missing', () => {
  const samples: MetricsSample[] = [
    [0, 0],
    [2_000, 10],
    [4_000, 4],
    [20_000, 50],
    [21_000, 51],
  ].map(([atMs = 0, value = 0]) => {
    return { atMs, values: new Map([['n', value]]) };
  });
  assert.deepEqual(rates(samples, 'n'), [5, null, null, 1]);
  assert.deepEqual(rates(samples, 'unknown'), [null, null, null, null]);
  assert.deepEqual(sums([rates(samples, 'n'), rates(samples, 'n')]), [10, null, null, 2]);
});

function documentOf(lists: object, rules?: HubDocument['rules']): HubDocument {
  return { lists: new Map(Object.entries(lists)) as unknown as ReadonlyMap<Kind, never>, rules };
}
