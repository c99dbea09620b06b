import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALERT_RULES } from '../../src/entities/alert_rules.ts';
import { SINKS } from '../../src/entities/sinks.ts';
import { SOURCES } from '../../src/entities/sources.ts';
import { type DefinedWrite, Documents, type DocumentsDeps } from '../../src/entities/documents.ts';
import type { Change, Entities, EntitiesDeps } from '../../src/entities/entities.ts';
import { type ImportOrder, Imports } from '../../src/entities/imports.ts';
import { LocatingRules } from '../../src/entities/locating_rules.ts';
import { MAP_VIEWS } from '../../src/entities/map_views.ts';
import type { AlertRule } from '../../src/model/alert.ts';
import type { Sink } from '../../src/model/sink.ts';
import type { Source } from '../../src/model/source.ts';
import type { LocatingRule } from '../../src/model/rule.ts';
import type { MapView } from '../../src/model/view.ts';
import { TaskScheduler } from '../../src/time/task_scheduler.ts';
import { openEntities, point, polygon, rfidZone, UUID_A, UUID_B, UUID_C, uwbZone } from './open_entities.ts';

const DOCUMENT = { format: 'location-hub-entities', version: 1 };
const HALL = uwbZone({ id: UUID_A, foreign_id: 'hall' });
const FENCE = { id: UUID_B, region: polygon() };
const LOCAL = { id: UUID_C, region: point(5, 5), radius: 2, crs: 'local', zone_id: 'hall' };
const cart = (id: string, more: object = {}) => ({ id, type: 'omlox', ...more });

interface Opened {
  readonly entities: Entities;
  readonly imports: Imports;
  readonly reported: readonly Change[];
  readonly documents: {
    readonly alert_rules: Documents<AlertRule>;
    readonly views: Documents<MapView>;
    readonly sinks: Documents<Sink>;
    readonly sources: Documents<Source>;
  };
  /** Rules and views that were stored without entities. */
  readonly written: readonly DefinedWrite[];
  /** Transactions, each with its changes and rules. */
  readonly commits: {
    readonly changes: readonly Change[];
    readonly rules: readonly LocatingRule[] | undefined;
    readonly defined: readonly DefinedWrite[] | undefined;
  }[];
  /** Runs an import to completion. */
  run(document: object, order?: Partial<ImportOrder>): Promise<Imports['current']>;
}

function open(deps: Partial<EntitiesDeps> = {}, more: { bytesMax?: number } = {}): Opened {
  const commits: Opened['commits'] = [];
  const commit: EntitiesDeps['commit'] = async (changes, together) => {
    commits.push({ changes: [...changes], rules: together?.rules, defined: together?.defined });
  };
  const { entities, reported } = openEntities({ commit, ...deps });
  const rules = new LocatingRules({ commit: async () => undefined, committed: () => undefined });
  const report = (error: unknown): never => {
    throw error;
  };
  const written: DefinedWrite[] = [];
  const keep: DocumentsDeps['commit'] = async (writes) => void written.push(...writes);
  const deps_ = { newId: () => 'new', commit: keep, changed: () => undefined };
  const documents = {
    alert_rules: new Documents(ALERT_RULES, deps_),
    views: new Documents(MAP_VIEWS, deps_),
    sinks: new Documents(SINKS, deps_),
    sources: new Documents(SOURCES, deps_),
  };
  const defined = () => documents;
  const imports = new Imports({ entities, rules, defined, turns: new TaskScheduler(), now: () => 0, report, ...more });
  const run: Opened['run'] = async (document, order) => {
    imports.start({ ...DOCUMENT, ...document }, { dryRun: false, replace: false, ...order });
    while (imports.current.ended_at === undefined) await new Promise((resolve) => setImmediate(resolve));
    return imports.current;
  };
  return { entities, imports, reported, commits, documents, written, run };
}

const keptIds = ({ entities }: Opened): string[] =>
  Object.values(entities.lists()).flatMap((list) => list.map(({ id }) => id));

test('An import is one transaction with its rules, and reports its changes to each kind', async () => {
  const hub = open();
  await hub.entities.create('zone', { ...HALL, name: 'before' });
  await hub.entities.create('provider', { id: 'tag-1', type: 'uwb' });
  hub.commits.length = 0;
  const rules = [{ expression: 'accuracy < 2', priority: 1 }];
  const named = { ...HALL, name: 'after' };
  const lists = { zones: [named], providers: [{ id: 'tag-1', type: 'uwb' }], fences: [FENCE, LOCAL] };
  const done = await hub.run({ ...lists, locating_rules: rules });
  assert.deepEqual(done.counts, {
    zones: { created: 0, changed: 1, unchanged: 0, deleted: 0 },
    providers: { created: 0, changed: 0, unchanged: 1, deleted: 0 },
    fences: { created: 2, changed: 0, unchanged: 0, deleted: 0 },
  });
  assert.deepEqual([done.state, done.rules, done.checked, done.total], ['done', 'changed', 4, 4]);
  assert.equal(hub.commits.length, 1);
  assert.deepEqual(hub.commits[0]?.rules, rules);
  assert.deepEqual(
    hub.commits[0]?.changes.map(({ kind, before }) => [kind, before === undefined]),
    [
      ['zone', false],
      ['fence', true],
      ['fence', true],
    ],
  );
  assert.equal(hub.reported.length, 5);
});

test('A dry run reports the same and changes nothing', async () => {
  const hub = open();
  const done = await hub.run({ zones: [HALL] }, { dryRun: true });
  assert.deepEqual([done.state, done.dry_run, done.counts?.zones?.created], ['done', true, 1]);
  assert.deepEqual([hub.commits, keptIds(hub)], [[], []]);
});

test('An import with an invalid field stores nothing, and reports every such field with its value', async () => {
  const hub = open();
  const fences = [FENCE, { ...FENCE, id: UUID_A, region: point(9, 95), radius: 1 }, { ...LOCAL, zone_id: 'nowhere' }];
  const trackables = [cart(UUID_A), cart(UUID_A), cart(UUID_B, { radius: -1 }), cart(UUID_C, { parent: UUID_B })];
  const refused = await hub.run({ fences, trackables, locating_rules: [{ expression: '((', priority: 1 }] });
  assert.equal(refused.state, 'refused');
  assert.deepEqual(
    refused.problems?.map(({ place, id, message }) => [place, id, /found (.*)$/.exec(message)?.[1] ?? message]),
    [
      ['trackables[1].id', UUID_A, `trackable "${UUID_A}" already exists`],
      ['trackables[2].radius', UUID_B, '-1'],
      ['trackables[3].parent', UUID_C, `"${UUID_B}"`],
      ['fences[1].region.coordinates[1]', UUID_A, '95'],
      ['fences[2].zone_id', UUID_C, '"nowhere"'],
      ['locating_rules[0].expression', undefined, refused.problems?.[5]?.message.replace(/^.*found /, '')],
    ],
  );
  assert.deepEqual([refused.problem_count, hub.commits, keptIds(hub)], [6, [], []]);
});

/** Documents that are only valid as a whole. */
const TOGETHER: readonly [what: string, before: object, document: object, order?: Partial<ImportOrder>][] = [
  [
    'zones that swap their foreign ids',
    { zone: [rfidZone({ id: UUID_A, foreign_id: 'a' }), rfidZone({ id: UUID_B, foreign_id: 'b' })] },
    { zones: [rfidZone({ id: UUID_A, foreign_id: 'b' }), rfidZone({ id: UUID_B, foreign_id: 'a' })] },
  ],
  [
    'a carrier and its child that swap roles',
    { trackable: [cart(UUID_A), cart(UUID_B, { parent: UUID_A })] },
    { trackables: [cart(UUID_A, { parent: UUID_B }), cart(UUID_B)] },
    { deleteMembers: true },
  ],
  [
    'a zone with an anchor in the same zone',
    {},
    { anchors: [{ id: 'a', zone_id: 'hall' }], zones: [{ ...HALL, anchor_ids: ['a'] }] },
  ],
  ['a fence in a zone that is in the document', {}, { fences: [LOCAL], zones: [HALL] }],
  ['a foreign id of a zone that is deleted', { zone: [HALL] }, { zones: [{ ...HALL, id: UUID_B }] }, { replace: true }],
];

for (const [what, before, document, order] of TOGETHER) {
  test(`An import accepts ${what}`, async () => {
    const hub = open();
    for (const [kind, list] of Object.entries(before) as ['zone', object[]][]) {
      for (const entity of list) await hub.entities.create(kind, entity);
    }
    const done = await hub.run(document, order);
    assert.deepEqual([done.state, done.problems], ['done', []]);
    for (const [name, list] of Object.entries(document) as [string, { id: string }[]][]) {
      for (const entity of list) assert.deepEqual(hub.entities.get(name.slice(0, -1) as 'zone', entity.id), entity);
    }
  });
}

test('An import that replaces a kind leaves other kinds, which lose their parents and retain their positions', async () => {
  const hub = open();
  await hub.entities.create('zone', HALL);
  await hub.entities.create('fence', LOCAL);
  await hub.entities.create('trackable', cart(UUID_C));
  await hub.entities.create('zone', rfidZone({ id: UUID_B, parent: UUID_C }));
  const done = await hub.run({ trackables: [] }, { replace: true });
  assert.deepEqual(done.counts, { trackables: { created: 0, changed: 0, unchanged: 0, deleted: 1 } });
  assert.equal(hub.entities.get('zone', UUID_B)?.parent, undefined);
  await hub.run({ zones: [] }, { replace: true });
  assert.deepEqual(hub.entities.lists().zone, []);
  assert.equal(hub.entities.get('fence', UUID_C)?.former_zone?.id, UUID_A);
});

test('An import that the database rejects changes nothing', async () => {
  const full = async () => {
    throw errorWith('HUB_UNAVAILABLE', 'Cannot write: the disk is full');
  };
  const hub = open({ commit: full });
  const failed = await hub.run({ zones: [HALL], fences: [LOCAL] });
  assert.deepEqual([failed.state, failed.error], ['failed', 'Cannot write: the disk is full']);
  assert.deepEqual([keptIds(hub), hub.reported], [[], []]);
});

test('Only one import runs at a time, and it can be canceled until it is being stored', async () => {
  const kept = Promise.withResolvers<void>();
  const hub = open({ commit: () => kept.promise });
  const { imports } = hub;
  const start = () => imports.start({ ...DOCUMENT, zones: [HALL] }, { dryRun: false, replace: false });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  start();
  assert.throws(start, /^HubError: Cannot import: the import \S+ is in progress$/);
  imports.cancel();
  while (imports.current.ended_at === undefined) await turn();
  assert.deepEqual([imports.current.state, keptIds(hub)], ['cancelled', []]);
  start();
  while (imports.current.state !== 'keeping') await turn();
  assert.throws(() => imports.cancel(), /^HubError: Cannot cancel the import \S+: it is being stored$/);
  kept.resolve();
  while (imports.current.ended_at === undefined) await turn();
  assert.deepEqual([imports.current.state, keptIds(hub)], ['done', [UUID_A]]);
});

test('An import is planned again after an earlier change of another hub', async () => {
  const outcomes = ['overtaken', undefined] as const;
  const deps = {
    commit: async (): Promise<'overtaken' | undefined> => {
      const outcome = outcomes[runs++];
      if (outcome === undefined) hub.entities.committed();
      else hub.entities.applyRemote([{ kind: 'zone', id: UUID_A, text: JSON.stringify(HALL), force: false }]);
      return outcome;
    },
  };
  let runs = 0;
  const hub = open(deps, { bytesMax: 1000 });
  const done = await hub.run({ zones: [{ ...HALL, name: 'ours' }] });
  assert.deepEqual(
    [done.state, done.counts?.zones, runs],
    ['done', { created: 0, changed: 1, unchanged: 0, deleted: 0 }, 2],
  );
  assert.equal(hub.entities.get('zone', UUID_A)?.name, 'ours');
});

test('In a cluster an import must fit into a record', async () => {
  const hub = open({}, { bytesMax: 100 });
  const failed = await hub.run({ zones: [HALL] });
  assert.match(
    failed.error ?? '',
    /^Cannot import all or nothing in a cluster: changes may have 100 bytes as JSON, found \d+$/,
  );
  assert.deepEqual([hub.commits, keptIds(hub)], [[], []]);
});

const RULE: AlertRule = { id: UUID_A, name: 'Silent', kind: 'silent', longer_than: 60_000 };
const START: MapView = { id: UUID_B, name: 'Hall', address: '?z=18', is_start: true };
const OTHER_START: MapView = { id: UUID_C, name: 'Yard', address: '?z=16', is_start: true };

test('An import stores alert rules and views in the transaction of its entities, with one start', async () => {
  const hub = open();
  hub.documents.views.take([[`map_view ${UUID_B}`, START]]);
  const lists = { alert_rules: [RULE], views: [OTHER_START] };
  const done = await hub.run({ fences: [FENCE], ...lists });
  const created = { created: 1, changed: 0, unchanged: 0, deleted: 0 };
  assert.deepEqual([done.state, done.counts], ['done', { fences: created, alert_rules: created, views: created }]);
  const kept = [
    [`alert_rule ${UUID_A}`, RULE],
    [`map_view ${UUID_B}`, { ...START, is_start: false }],
    [`map_view ${UUID_C}`, OTHER_START],
  ];
  assert.deepEqual(hub.commits[0]?.defined, kept);
  assert.deepEqual(hub.written, [], 'not once more');
  assert.deepEqual(hub.documents.alert_rules.list, [RULE]);
  assert.equal(hub.documents.views.get(UUID_B).is_start, false);

  const again = await hub.run(lists);
  assert.deepEqual(again.counts?.alert_rules, { created: 0, changed: 0, unchanged: 1, deleted: 0 });
  const louder = { ...RULE, id: UUID_A.toUpperCase(), severity: 'critical' };
  const replaced = await hub.run({ alert_rules: [louder], views: [OTHER_START] }, { replace: true });
  assert.deepEqual(replaced.counts?.alert_rules, { created: 0, changed: 1, unchanged: 0, deleted: 0 });
  assert.deepEqual(replaced.counts?.views, { created: 0, changed: 0, unchanged: 1, deleted: 1 });
  assert.deepEqual(hub.written.slice(0, 2), [
    [`alert_rule ${UUID_A}`, { ...louder, id: UUID_A }],
    [`map_view ${UUID_B}`, undefined],
  ]);
  await hub.run({ fences: [FENCE] }, { replace: true });
  assert.equal(hub.documents.views.list.length, 1, 'a document without a list leaves that kind unchanged');
});

test('Invalid alert rules and views are reported by their paths, and nothing is stored', async () => {
  const hub = open();
  const many = Array.from({ length: 201 }, (_, i) => ({ ...START, id: `view-${i}`, is_start: false }));
  assert.throws(
    () => hub.imports.start({ ...DOCUMENT, alert_rules: [{ name: 'a' }] }, { dryRun: true, replace: false }),
    {
      message: /^alert_rules\[0\]\.id: must be the id/,
    },
  );
  const twice = await hub.run({ fences: [FENCE], alert_rules: [RULE, RULE] });
  assert.deepEqual([twice.state, twice.problems?.[0]?.place], ['refused', 'alert_rules[1].id']);
  const places = (await hub.run({ alert_rules: [RULE, { ...RULE, id: UUID_B, longer_than: 1 }], views: many }))
    .problems;
  assert.deepEqual(
    places?.map(({ place }) => place),
    ['alert_rules[1].longer_than', 'views'],
  );
  assert.deepEqual([hub.commits, hub.written, hub.documents.alert_rules.list], [[], [], []]);
});
