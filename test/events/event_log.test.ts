import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { StoreBatch } from '../../src/core/entity_write.ts';
import { HubError } from '../../src/errors.ts';
import { joinEvents, textEvent } from '../../src/events/event_bytes.ts';
import { EventLog } from '../../src/events/event_log.ts';
import { EVENT_TOPICS, type EventTopic } from '../../src/model/logged_event.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { StoreWriter } from '../../src/store/writer.ts';
import { row } from '../store/rows.ts';
import { ManualTimers } from '../store/failing_store.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

/** A log on a database file, whose commits fail on command: before the write, or after it without an answer. */
class World {
  readonly path: string;
  nowMs = 1_700_000_000_000;
  failing: 'no' | 'before' | 'after' = 'no';
  /** Number of next commits that fail before the write. */
  failures = 0;
  file!: SqliteStore;
  log!: EventLog;
  writer!: StoreWriter;
  timers = new ManualTimers();

  constructor(context: TestContext) {
    this.path = join(temporaryFolder(), 'data.dat');
    this.start();
    context.after(() => this.file.close());
  }

  start(): void {
    this.file = new SqliteStore(this.path, () => '0b3c1f0e-5d2a-4a7e-9a53-7a1f6c1d2e3f');
    const { events } = this.file.logs;
    const store = {
      read: async (after: number, bytesMax: number) => events.read(after, bytesMax),
      positionAt: async (timeMs: number) => events.positionAt(timeMs),
    };
    this.log = new EventLog(events.range(), { store, now: () => this.nowMs });
    this.timers = new ManualTimers();
    this.writer = new StoreWriter(
      {
        load: async () => this.file.load(),
        read: async () => assert.fail('the writer reads nothing'),
        commit: async (batch: StoreBatch) => {
          if (this.failing === 'before' || this.failures-- > 0) throw new Error('the disk is on strike');
          this.file.commit(batch);
          if (this.failing === 'after') throw new Error('the answer was lost');
        },
        close: async () => undefined,
      },
      { retryMs: [1], schedule: this.timers.schedule, events: this.log, state: () => undefined },
    );
  }

  restart(): void {
    this.file.close();
    this.start();
  }

  async readAll(limit = 1000, after?: string): Promise<string[]> {
    const found: string[] = [];
    for (let cursor = after; ; ) {
      const page = await this.log.read(cursor, { topics: [], filters: {}, limit });
      found.push(...page.events.map(({ json }) => json));
      cursor = page.next;
      if (!page.hasMore) return found;
    }
  }
}

const fenceEvent = (id: string, fence = 'dock', trackable = 'truck') =>
  textEvent(
    'fence_events',
    [fence, undefined, undefined, trackable, 'region_entry', 'trackable'],
    JSON.stringify({ id, fence_id: fence, trackable_id: trackable, entry_time: '2026-01-01T00:00:00.000Z' }),
  );
const idsOf = (found: readonly string[]) => found.map((json) => (JSON.parse(json) as { id: string }).id);

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('rows' as const), rows: fc.nat(3), events: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('entities' as const), events: fc.nat(3) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('fail' as const), how: fc.constantFrom('before', 'after', 'no') }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

test('every event of a write that succeeded is in the log once, in order, whatever fails and restarts', async (context) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.integer({ min: 1, max: 5 }), async (steps, limit) => {
      const world = new World(context);
      let written = 0;
      /** Ids that must be in the log, and those that may be, since a failed write may have been stored. */
      const due: string[] = [];
      const maybe = new Set<string>();
      let waiting: string[] = [];
      for (const each of steps) {
        if (each.do === 'fail') world.failing = each.how as World['failing'];
        else if (each.do === 'restart') {
          // Without an answer, the events that wait are lost with the process.
          for (const id of waiting) maybe.add(id);
          waiting = [];
          world.failing = 'no';
          world.restart();
        } else {
          const ids = Array.from({ length: each.events }, () => `event-${written++}`);
          const events = joinEvents(ids.map((id) => fenceEvent(id)));
          if (each.do === 'entities') {
            const stored = await world.writer.writeEntities([], { events }).then(
              () => true,
              () => false,
            );
            if (stored) due.push(...ids);
            else for (const id of ids) maybe.add(id);
          } else {
            waiting.push(...ids);
            const rows = Array.from({ length: each.rows }, (_, i) => row(i));
            const before = waiting;
            const stored = await world.writer.writeRows(rows, { orFail: true, events }).then(
              () => true,
              () => false,
            );
            if (stored && waiting === before) {
              due.push(...waiting);
              waiting = [];
            }
          }
        }
      }
      world.failing = 'no';
      await world.writer.drain();
      const found = idsOf(await world.readAll(limit));
      assert.equal(new Set(found).size, found.length, 'no event twice');
      const allowed = new Set([...due, ...waiting, ...maybe]);
      assert.deepEqual(
        found.filter((id) => !allowed.has(id)),
        [],
      );
      const foundSet = new Set(found);
      assert.deepEqual(
        [...due, ...waiting].filter((id) => !foundSet.has(id)),
        [],
        'no event is missing',
      );
      world.restart();
      const later = idsOf(await world.readAll(limit));
      assert.deepEqual(
        later.filter((id) => foundSet.has(id)),
        found,
        'a restart loses nothing',
      );
      // A write whose answer was lost may be stored.
      assert.deepEqual(
        later.filter((id) => !foundSet.has(id) && !maybe.has(id)),
        [],
      );
    }),
    { numRuns: 60 },
  );
});

test('a commit of entities and rows has the events of both, and after a failure each has its own', async (context) => {
  const expected = [['moved', 'made'], ['made', 'moved'], ['moved'], ['moved']];
  for (const [failures, ids] of expected.entries()) {
    const world = new World(context);
    world.failures = failures;
    const events = textEvent('zone_changes', ['hall', 'create'], '{"id":"made"}');
    const made = world.writer.writeEntities([], { events });
    const moved = world.writer.writeRows([row(1)], { orFail: true, events: fenceEvent('moved') });
    const [isMade, isMoved] = (await Promise.allSettled([made, moved])).map(({ status }) => status === 'fulfilled');
    assert.deepEqual([isMade, isMoved], [failures < 2, failures < 3]);
    await world.writer.drain();
    assert.deepEqual(idsOf(await world.readAll()), ids);
    world.restart();
    assert.deepEqual(idsOf(await world.readAll()), ids);
  }
});

test('reading after a cursor continues with the next event, also after a restart', async (context) => {
  const world = new World(context);
  for (const id of ['a', 'b', 'c']) await world.writer.writeRows([row(1)], { events: fenceEvent(id) });
  const { events } = await world.log.read(undefined, { topics: [], filters: {}, limit: 2 });
  assert.deepEqual(events.map(({ key, topic, timeMs }) => [key, topic, timeMs])[0], [
    'truck',
    'fence_events',
    Date.UTC(2026, 0),
  ]);
  world.restart();
  await world.writer.writeRows([row(1)], { events: fenceEvent('d') });
  assert.deepEqual(idsOf(await world.readAll(1, events[0]?.cursor)), ['b', 'c', 'd']);
  assert.deepEqual(idsOf(await world.readAll(1, world.log.newest)), []);
});

test('filters and topics select events, and the next cursor passes the others', async (context) => {
  const world = new World(context);
  await world.writer.writeRows([], { events: fenceEvent('a', 'dock') });
  await world.writer.writeRows([], { events: fenceEvent('b', 'gate') });
  await world.writer.writeEntities([], {
    events: textEvent('zone_changes', ['hall', 'create'], '{"id":"hall"}'),
  });
  const read = async (topics: readonly EventTopic[], filters: Record<string, string>) => {
    const page = await world.log.read(undefined, { topics, filters, limit: 10 });
    assert.equal(page.next, world.log.newest);
    return idsOf(page.events.map(({ json }) => json));
  };
  assert.deepEqual(await read([], {}), ['a', 'b', 'hall']);
  assert.deepEqual(await read(['fence_events'], { fence_id: 'gate' }), ['b']);
  assert.deepEqual(await read(['zone_changes'], {}), ['hall']);
  assert.deepEqual(
    await read(EVENT_TOPICS, { event_type: 'region_entry' }).catch(String),
    'HubError: params.event_type: must be one of create, update, delete, found "region_entry"',
  );
});

test('old events are removed by age and by size, and their cursors are answered with the oldest one', async (context) => {
  const world = new World(context);
  for (const id of ['a', 'b', 'c', 'd']) {
    await world.writer.writeRows([], { events: fenceEvent(id) });
    world.nowMs += 1000;
  }
  const { events } = await world.log.read(undefined, { topics: [], filters: {}, limit: 10 });
  assert.equal(await world.log.cursorAt(world.nowMs - 2000), events[1]?.cursor, 'before c');
  assert.equal(await world.log.cursorAt(0), world.log.oldest);
  assert.equal(await world.log.cursorAt(world.nowMs), events[3]?.cursor, 'after all');
  const all = world.file.logs.events.range().bytes;
  world.log.trimmed(world.file.logs.events.trim({ beforeMs: world.nowMs - 3500, bytesMax: all }).range);
  assert.deepEqual(idsOf(await world.readAll(2, events[0]?.cursor)), ['b', 'c', 'd']);
  world.log.trimmed(world.file.logs.events.trim({ beforeMs: 0, bytesMax: all / 2 }).range);
  await assert.rejects(world.readAll(2, events[0]?.cursor), (error) => {
    assert(error instanceof HubError);
    assert.deepEqual(
      [error.status, error.reason, error.params],
      [410, 'cursor_too_old', { oldest: events[1]?.cursor }],
    );
    return true;
  });
  assert.deepEqual(idsOf(await world.readAll(2)), ['c', 'd']);
  world.restart();
  await assert.rejects(world.readAll(2, events[0]?.cursor), { reason: 'cursor_too_old' });
});

test('events that do not fit into memory while the database fails leave a gap that no reader crosses unnoticed', async (context) => {
  const world = new World(context);
  await world.writer.writeRows([], { events: fenceEvent('a') });
  const before = world.log.newest;
  world.failing = 'before';
  const long = 'x'.repeat(24 << 20);
  for (const id of ['b', 'c', 'd'])
    await world.writer.writeRows([], { orFail: true, events: fenceEvent(id, long) }).catch(() => undefined);
  world.failing = 'no';
  await world.writer.drain();
  await assert.rejects(world.readAll(10, before), { reason: 'cursor_too_old' });
  assert.deepEqual(idsOf(await world.readAll(10)), ['d']);
  world.restart();
  await assert.rejects(world.readAll(10, before), { reason: 'cursor_too_old' });
});

test('a damaged block ends the log before it', async (context) => {
  const world = new World(context);
  for (const id of ['a', 'b', 'c']) await world.writer.writeRows([], { events: fenceEvent(id) });
  const { events } = await world.log.read(undefined, { topics: [], filters: {}, limit: 10 });
  const { default: Database } = await import('better-sqlite3');
  // Without recent blocks, the log reads the file.
  world.restart();
  const db = new Database(world.path);
  db.prepare('UPDATE event_log SET sum = sum + 1 WHERE last = (SELECT min(last) + 1 FROM event_log)').run();
  db.close();
  const first = await world.log.read(undefined, { topics: [], filters: {}, limit: 10 });
  assert.deepEqual(idsOf(first.events.map(({ json }) => json)), ['a']);
  await assert.rejects(world.readAll(10, first.next), { params: { oldest: events[1]?.cursor } });
  assert.deepEqual(idsOf(await world.readAll(10, events[1]?.cursor)), ['c']);
});
