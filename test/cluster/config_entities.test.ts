import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { changesIn, settingsIn } from '../../src/cluster/config/config_changes.ts';
import { type AppliedRecord, type ConfigLog, openConfigLog } from '../../src/cluster/config/config_log.ts';
import { restored, snapshotParts } from '../../src/cluster/config/snapshot_messages.ts';
import { type ConfigBody, type EntityChange, unpackRecord } from '../../src/cluster/config/config_record.ts';
import { applied, EMPTY_STATE } from '../../src/cluster/config/config_state.ts';
import { writtenChange } from '../../src/entities/change.ts';
import { type Change, Entities, type Kind } from '../../src/entities/entities.ts';
import { isSilent } from '../../src/entities/detached_fences.ts';
import { LocatingRules, RULES_SETTING } from '../../src/entities/locating_rules.ts';
import { HubError } from '../../src/errors.ts';
import type { LocatingRule } from '../../src/model/rule.ts';
import { storedByKind, settingWrite } from '../../src/store/entity_json.ts';
import { TaskScheduler } from '../../src/time/task_scheduler.ts';
import { point, polygon, rfidZone, UUID_A, UUID_B, UUID_C, uwbZone } from '../entities/open_entities.ts';
import { type Dice, diceOf } from '../support/dice.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

const SEEDS = 32;
const SEEN = { done: 0, refused: 0, unavailable: 0, overtaken: 0, silent: 0, forced: 0 };
const KINDS = ['zone', 'fence', 'trackable', 'provider', 'anchor'] as const;

/** Configuration of one hub, as built from the log. */
interface TestHub {
  readonly name: string;
  readonly log: ConfigLog;
  readonly entities: Entities;
  readonly rules: LocatingRules;
  readonly published: string[];
  readonly publishedRules: string[];
  readonly stops: Error[];
}

function bodyOf(by: string, changes: readonly Change[]): ConfigBody {
  const rows = changes.map(writtenChange).map(({ kind, id, text, force }): EntityChange => [kind, id, text, force]);
  return { kind: 'change', by, changes: rows };
}

/** A published change: before, after, and its kind. */
function jsonOf(change: Change): string {
  const { kind, id, before, after, force } = change;
  if (force === true) SEEN.forced++;
  if (isSilent(change)) SEEN.silent++;
  return JSON.stringify([kind, id, before ?? null, after ?? null, force === true, isSilent(change)]);
}

/** Groups are performed in several turns now and then. */
class TestTurns extends TaskScheduler {
  readonly #dice: Dice;

  constructor(dice: Dice) {
    super();
    this.#dice = dice;
  }

  override isLong(): boolean {
    return this.#dice(5) === 0;
  }
}

const NO_SHAPE_CHECKS = { regionProblem: () => undefined, polygonProblem: () => undefined };

async function openHub(name: string, { cluster, dice }: { cluster: SimulatedCluster; dice: Dice }): Promise<TestHub> {
  const [published, publishedRules, stops]: [string[], string[], Error[]] = [[], [], []];
  let state = EMPTY_STATE;
  let ids = 0;
  const entities = new Entities({
    newId: () => `00000000-0000-4000-8000-${name}${String(++ids).padStart(11, '0')}`,
    shapes: NO_SHAPE_CHECKS,
    turns: new TestTurns(dice),
    groupMax: 20,
    commit: async (changes) => {
      const { at } = await log.append(bodyOf(name, changes), log.applied);
      if (at === 'committed') return undefined;
      SEEN.overtaken++;
      return at;
    },
    committed: (changes) => void published.push(...changes.map(jsonOf)),
  });
  const rules = new LocatingRules({
    commit: async (changed) => {
      const { kind, id, text = null } = settingWrite(RULES_SETTING, changed);
      await log.append({ kind: 'change', by: name, changes: [[kind, id, text, false]] });
      return 'applied';
    },
    committed: (changed) => void publishedRules.push(JSON.stringify(changed)),
  });
  const log: ConfigLog = await openConfigLog({
    ...{ bus: cluster.bus(name), name: 'hub', replicas: 3, storage: 'file', snapshotEvery: 25 },
    apply(record: AppliedRecord) {
      state = applied(state, record);
      const foreign = changesIn(record.body);
      if (record.isOwn && record.body.kind === 'change' && foreign.length > 0) entities.committed();
      else entities.applyRemote(foreign);
      for (const [, text] of settingsIn(record.body)) rules.apply(JSON.parse(text ?? '[]'));
    },
    restore(parts) {
      const snapshot = restored(parts);
      state = snapshot.state;
      entities.load(storedByKind(snapshot.entities));
      const text = state.settings.get(RULES_SETTING);
      rules.load(text === undefined ? undefined : (JSON.parse(text) as LocatingRule[]));
    },
    snapshot: () => snapshotParts(state, entities.written()),
    shouldSnapshot: () => name === 'a',
    stopped: (error) => stops.push(error),
    notice: () => undefined,
    newId: () => `${name} ${++ids}`,
    elapsed: cluster.clock.elapsed,
    schedule: (delayMs, callback) => cluster.schedule(name, delayMs, callback),
  });
  return { name, log, entities, rules, published, publishedRules, stops };
}

const NAMES = ['a', 'b', 'c'];
const TRACKABLES = [UUID_A, UUID_B, UUID_C];

function bodyFor(kind: Kind, dice: Dice): object {
  const some = <T>(values: readonly T[]): T => values[dice(values.length)] as T;
  const few = (values: readonly string[]) => values.filter(() => dice(2) === 0);
  const perhaps = (more: object) => (dice(2) === 0 ? {} : more);
  if (kind === 'provider') return { type: some(['uwb', 'gps']) };
  if (kind === 'trackable') {
    return { type: 'omlox', location_providers: few(NAMES), ...perhaps({ parent: some(TRACKABLES) }) };
  }
  if (kind === 'anchor')
    return { local_position: point(dice(9), 1), georeferenced_position: point(8, 50 + dice(9) / 9) };
  if (kind === 'fence') {
    const region = polygon(
      [some([0, 1, 2])].map((x) => [
        [x, 0],
        [x + 3, 0],
        [x + 3, 3],
        [x, 3],
        [x, 0],
      ]),
    );
    return dice(2) === 0
      ? { region: point(8, 50), radius: 1 + dice(3) }
      : { region, crs: 'local', zone_id: some(NAMES) };
  }
  if (dice(2) === 0)
    return rfidZone(perhaps({ parent: some([...NAMES, ...TRACKABLES]), foreign_id: some(['x', 'y']) }));
  return dice(2) === 0 ? uwbZone(perhaps({ foreign_id: some(['x', 'y']) })) : { type: 'uwb', anchor_ids: few(NAMES) };
}

/** Makes a random change. Resolves with the JSON of the result, or with undefined if the log has no record of it. */
async function change({ name, entities, rules, log }: TestHub, dice: Dice): Promise<string | undefined> {
  const kind = KINDS[dice(KINDS.length)] ?? 'zone';
  const ids = kind === 'trackable' ? TRACKABLES : NAMES;
  const id = ids[dice(ids.length)] ?? '';
  const action = dice(16);
  if (action < 7) return JSON.stringify(await entities.create(kind, { id, ...bodyFor(kind, dice) }));
  if (action < 10) {
    const force = kind === 'trackable' && dice(2) === 0;
    return JSON.stringify(await entities.replace(kind, id, bodyFor(kind, dice), { force }));
  }
  if (action < 12) await entities.remove(kind, id);
  else if (action === 12 && dice(4) === 0) await entities.clear(kind);
  else if (action === 13) {
    const provider = `${id}${dice(3)}`;
    const created = entities.ensureProvider(provider, 'wifi');
    assert.ok(entities.has('provider', provider), 'an ensured provider is visible at once');
    await created;
  } else if (action === 14) await rules.replace([{ expression: 'accuracy < 5', priority: dice(1000) }]);
  else if (action === 15 && dice(3) === 0) {
    await log.append({ kind: 'ensure', by: name, providers: [[id, JSON.stringify({ id, type: 'uwb' })]] });
  }
  return undefined;
}

/** Changes as fast as it can, several at a time. Returns how the answers read. */
async function load(hub: TestHub, { dice, count }: { dice: Dice; count: number }): Promise<readonly string[]> {
  const answers: string[] = [];
  let left = count;
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      try {
        const answer = await change(hub, dice);
        if (answer !== undefined) answers.push(answer);
        SEEN.done++;
      } catch (error) {
        assert.ok(error instanceof HubError, String(error));
        SEEN[error.code === 'HUB_UNAVAILABLE' ? 'unavailable' : 'refused']++;
      }
    }
  };
  await Promise.all(Array.from({ length: 6 }, work));
  return answers;
}

/** One fault after the other, and none in the end. */
async function trouble(cluster: SimulatedCluster, dice: Dice): Promise<void> {
  const servers = ['n1', 'n2', 'n3'];
  for (let i = 0; i < 6; i++) {
    const hub = ['a', 'b'][dice(2)] ?? 'a';
    await cluster.clock.wait(dice(300));
    const kind = dice(4);
    if (kind === 0) cluster.kill(cluster.leaderOf('hub_CONFIG'));
    if (kind === 1) cluster.isolate(hub);
    if (kind === 2) cluster.deafen(hub);
    if (kind === 3) cluster.stop(hub);
    await cluster.clock.wait(dice(14_000));
    for (const each of [...servers, hub]) {
      cluster.resume(each);
      cluster.restore(each);
    }
  }
}

function simulated(context: TestContext, seed: number) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed });
  return { clock, cluster, dice: diceOf(seed + 500) };
}

/** Records all messages, because the log is trimmed up to its snapshots. */
async function openWitness(cluster: SimulatedCluster, records: ConfigBody[]): Promise<void> {
  const bus = cluster.bus('witness');
  await bus.makeStream({ name: 'hub_CONFIG', subjects: ['hub.cfg'], replicas: 3, storage: 'file' });
  bus.follow('hub_CONFIG', { subjects: ['hub.cfg'], fromSequence: 1 }, ({ bytes, sequence }) => {
    assert.equal(sequence, records.length + 1);
    records.push(unpackRecord(bytes, sequence).body);
  });
}

/** Result of all records: entities in the order of creation, the notifications of all changes, and all rules. */
function replay(records: readonly ConfigBody[]) {
  const tables = new Map<Kind, Map<string, object>>(KINDS.map((kind) => [kind, new Map()]));
  const [published, rules]: [[Kind, string, object | null, object | null, boolean][], string[]] = [[], []];
  for (const body of records) {
    for (const { kind, id, text, force, ifAbsent } of changesIn(body)) {
      const table = tables.get(kind);
      const before = table?.get(id) ?? null;
      if (ifAbsent === true && before !== null) continue;
      const after = text === null ? null : (JSON.parse(text) as object);
      published.push([kind, id, before, after, force]);
      if (after === null) table?.delete(id);
      else table?.set(id, after);
    }
    for (const [, text] of settingsIn(body)) rules.push(text ?? '[]');
  }
  const rows = [...tables].flatMap(([kind, table]) => {
    return [...table].map(([id, entity]) => ({ kind, id, text: JSON.stringify(entity) }));
  });
  return { rows, published, rules };
}

for (let seed = 1; seed <= SEEDS; seed++) {
  test(`Two hubs have the entities of their log, and publish changes in its order, seed ${seed}`, async (context) => {
    const { clock, cluster, dice } = simulated(context, seed);
    const records: ConfigBody[] = [];
    await openWitness(cluster, records);
    const hubs = await Promise.all(['a', 'b'].map((name) => openHub(name, { cluster, dice })));
    cluster.mishaps.unanswered = 100;
    const loads = hubs.map((hub, i) => load(hub, { dice: diceOf(seed * 10 + i), count: 150 }));
    if (seed % 2 === 0) await trouble(cluster, dice);
    const answers = (await Promise.all(loads)).flat();
    cluster.mishaps.unanswered = 0;
    const last = await Promise.all(hubs.map(({ log }) => log.append({ kind: 'protocol', version: 1 })));
    const end = Math.max(...last.map((appended) => (appended.at === 'committed' ? appended.sequence : NaN)));
    await Promise.all(hubs.map(({ log }) => log.reached(end, 10_000)));
    await clock.wait(1000);
    const { rows, published, rules } = replay(records);
    for (const hub of hubs) {
      assert.deepEqual(hub.stops, []);
      assert.deepEqual([...hub.entities.written()], rows);
      assert.deepEqual(
        hub.published.map((text) => JSON.parse(text).slice(0, 5)),
        published,
      );
      assert.deepEqual(hub.publishedRules, rules);
      assert.equal(JSON.stringify(hub.rules.current), rules.at(-1) ?? '[]');
    }
    assert.deepEqual(hubs[0]?.published, hubs[1]?.published);
    const kept = new Set(published.map(([, , , after]) => JSON.stringify(after)));
    for (const answer of answers) assert.ok(kept.has(answer), `answered, but not in the log: ${answer}`);
    const late = await openHub('late', { cluster, dice });
    assert.deepEqual([...late.entities.written()], rows);
    assert.deepEqual(late.rules.current, hubs[0]?.rules.current);
    assert.ok(late.log.applied === end && late.published.length < published.length, 'there was no snapshot');
  });
}

test('The seeds have shown changes of every outcome and kind', (context) => {
  context.diagnostic(JSON.stringify(SEEN));
  assert.ok(SEEN.done > 100 * SEEDS && SEEN.refused > 100 * SEEDS && SEEN.overtaken > 10 * SEEDS, JSON.stringify(SEEN));
  assert.ok(SEEN.unavailable > 0 && SEEN.silent > SEEDS && SEEN.forced > SEEDS, JSON.stringify(SEEN));
});
