import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Consumption, UsageCounts } from '../../src/model/usage.ts';
import { snapshotOf } from '../../src/operation/consumption.ts';
import { isEndedMonth, type KeptMonth, Usage, type UsageWrite } from '../../src/operation/usage.ts';
import { HALL, square } from '../support/hall.ts';
import { NO_COUNTS } from './open_operation.ts';

function monthIn(usage: Usage, year: number, month: number) {
  return usage.all().find((each) => each.year === year && each.month === month);
}

const DAY_MS = 86_400_000;
const NOVEMBER_20 = Date.UTC(2026, 10, 20);
const DECEMBER = Date.UTC(2026, 11);

/** A hub's usage with a settable clock and counters, and a store that can fail. */
class Setting {
  nowMs = NOVEMBER_20;
  /** Offset of the system clock. */
  setMs = 0;
  counts: UsageCounts = NO_COUNTS;
  fences = 0;
  monthsBegun = 0;
  refusing = false;
  readonly kept = new Map<string, object>();
  #ids = 0;
  usage = this.#open();

  /** Ends the run and begins the next. Counters of a run start at 0. */
  restart(nowMs: number): void {
    this.nowMs = nowMs;
    this.counts = NO_COUNTS;
    this.usage = this.#open();
  }

  process(locations: number): void {
    this.counts = { ...this.counts, locationupdates_processed: this.counts.locationupdates_processed + locations };
  }

  #open(): Usage {
    const kept = JSON.parse(JSON.stringify([...this.kept])) as [string, Consumption][];
    return new Usage({
      now: () => this.nowMs,
      elapsed: () => this.nowMs - this.setMs,
      newId: () => `id-${++this.#ids}`,
      hubId: 'hub',
      counts: () => this.counts,
      config: () => {
        const fences = Array.from({ length: this.fences }, () => square());
        return snapshotOf({ fences, zones: [], trackables: [], providers: [] }, new Set());
      },
      monthBegun: () => void this.monthsBegun++,
      month: this.kept.get('usage') as KeptMonth | undefined,
      ended: new Map(kept.filter(([name]) => isEndedMonth(name))),
      keep: async (writes) => this.#keep(writes),
    });
  }

  #keep(writes: readonly UsageWrite[]): void {
    if (this.refusing) throw new Error('The disk is full');
    for (const { name, value } of writes) {
      if (value === undefined) this.kept.delete(name);
      else this.kept.set(name, value);
    }
  }
}

function processed({ statistics }: Consumption): number {
  return statistics.locationupdates_processed;
}

describe('Usage', () => {
  test('counts from the start of the run, with time and range', () => {
    const setting = new Setting();
    setting.process(5);
    setting.nowMs += 90_500;
    const { id, statistics, year, month, timestamp_generated } = setting.usage.current();
    assert.deepEqual([id, year, month, timestamp_generated], ['id-1', 2026, 11, '2026-11-20T00:01:30.500Z']);
    const { locationupdates_processed, uptime, range, instance_id } = statistics;
    assert.deepEqual([locationupdates_processed, uptime, instance_id], [5, 90, 'hub']);
    assert.deepEqual(range, { from: '2026-11-20T00:00:00.000Z', to: '2026-11-20T00:01:30.500Z' });
    assert.equal(processed(setting.usage.current()), 5, 'a read adds nothing twice');
  });

  test('counts elapsed time despite forward and backward clock steps, across the end of the month', () => {
    const setting = new Setting();
    const set = (byMs: number): void => {
      setting.nowMs += byMs;
      setting.setMs += byMs;
    };
    setting.nowMs += 60_000;
    setting.process(5);
    set(20 * DAY_MS);
    assert.equal(setting.usage.current().month, 12);
    set(-20 * DAY_MS);
    setting.process(2);
    setting.nowMs += 30_000;
    const [november, december] = setting.usage.all().map(({ statistics }) => statistics);
    assert.ok(november && december);
    assert.deepEqual([november.uptime, december.uptime], [60, 30]);
    assert.deepEqual([november.locationupdates_processed, december.locationupdates_processed], [5, 2]);
    assert.ok(december.range.from <= december.range.to, JSON.stringify(december.range));
  });

  test('continues the same month after a restart', async () => {
    const setting = new Setting();
    setting.process(5);
    setting.nowMs += 60_000;
    await setting.usage.save();
    setting.restart(NOVEMBER_20 + DAY_MS);
    setting.process(7);
    setting.nowMs += 30_000;
    const { id, statistics } = setting.usage.current();
    assert.deepEqual([id, statistics.id, statistics.uptime], ['id-1', 'id-2', 90]);
    assert.equal(statistics.locationupdates_processed, 12);
    assert.equal(statistics.range.from, '2026-11-20T00:00:00.000Z');
  });

  test('ends a month at its time, with the configuration of that time', async () => {
    const setting = new Setting();
    setting.fences = 2;
    setting.process(5);
    assert.equal(setting.usage.endsMs, DECEMBER);
    setting.nowMs = DECEMBER - 1;
    await setting.usage.save();
    assert.equal(setting.monthsBegun, 0);
    setting.nowMs = DECEMBER;
    setting.process(1);
    await setting.usage.save();
    assert.equal(setting.monthsBegun, 1);
    setting.fences = 3;
    setting.process(10);
    const [november, december, ...more] = setting.usage.all();
    assert.ok(november && december && more.length === 0);
    assert.deepEqual([november.month, processed(november), november.config.fences.length], [11, 6, 2]);
    assert.equal(november.statistics.range.to, '2026-12-01T00:00:00.000Z');
    assert.deepEqual([december.month, processed(december), december.config.fences.length], [12, 10, 3]);
    assert.notEqual(december.id, november.id);
    assert.deepEqual(monthIn(setting.usage, 2026, 11), november);
    assert.equal(monthIn(setting.usage, 2026, 12)?.id, december.id);
    assert.equal(monthIn(setting.usage, 2026, 10), undefined);
    assert.deepEqual([...setting.kept.keys()].sort(), ['usage', 'usage:2026-11']);
  });

  test('ends a month that passed while the hub was down', async () => {
    const setting = new Setting();
    setting.process(5);
    setting.nowMs += 1000;
    await setting.usage.save();
    setting.restart(Date.UTC(2027, 1, 3));
    assert.equal(setting.monthsBegun, 1);
    setting.process(7);
    const found = setting.usage.all().map((month) => [month.year, month.month, processed(month)]);
    assert.deepEqual(found, [
      [2026, 11, 5],
      [2027, 2, 7],
    ]);
    assert.equal(monthIn(setting.usage, 2026, 11)?.statistics.range.to, '2026-11-20T00:00:01.000Z');
  });

  test('stores usage that could not be stored with the next save', async () => {
    const setting = new Setting();
    setting.process(5);
    setting.nowMs = DECEMBER;
    setting.refusing = true;
    await assert.rejects(setting.usage.save(), /The disk is full/);
    setting.refusing = false;
    await setting.usage.save();
    setting.restart(DECEMBER + 1);
    assert.deepEqual(setting.usage.all().map(processed), [5, 0]);
  });

  test('retains 24 months, and deletes earlier ones', async () => {
    const setting = new Setting();
    for (let month = 11; month < 11 + 30; month++) {
      setting.nowMs = Date.UTC(2026, month);
      await setting.usage.save();
    }
    assert.equal(setting.usage.all().length, 25);
    assert.equal(setting.kept.size, 25);
    assert.equal(monthIn(setting.usage, 2027, 4), undefined);
    setting.restart(setting.nowMs);
    const all = setting.usage.all().map(({ year, month }) => year * 12 + month);
    assert.deepEqual(
      all,
      Array.from({ length: 25 }, (_, index) => 2027 * 12 + 5 + index),
    );
  });

  test('uses 0 for a counter that an older hub did not store', async () => {
    const setting = new Setting();
    await setting.usage.save();
    const { trackablemotions_processed: _none, ...counts } = NO_COUNTS;
    setting.kept.set('usage', { ...setting.kept.get('usage'), counts });
    setting.restart(NOVEMBER_20);
    assert.equal(setting.usage.current().statistics.trackablemotions_processed, 0);
  });
});

describe('snapshotOf', () => {
  test('counts existing and active objects by type, with the areas of zones', () => {
    const provider = (id: string, type: 'uwb' | 'rfid') => ({ id, type });
    const trackable = (id: string, ...providers: string[]) => ({
      id,
      type: 'omlox' as const,
      location_providers: providers,
    });
    const snapshot = snapshotOf(
      {
        fences: [square()],
        zones: [HALL],
        providers: [provider('a', 'uwb'), provider('b', 'uwb'), provider('c', 'rfid')],
        trackables: [trackable('t', 'b', 'a'), trackable('u', 'b'), { id: 'v', type: 'virtual' }],
      },
      new Set(['a', 'c', 'deleted']),
    );
    const { zones, fences, ...counts } = snapshot;
    assert.deepEqual(fences, [square()]);
    assert.deepEqual({ ...zones[0], sqm: Math.round((zones[0]?.sqm ?? 0) / 100) }, { ...HALL, sqm: 100 });
    const none = { gps: 0, wifi: 0, ibeacon: 0, 'ble-aoa': 0, 'ble-mesh': 0, virtual: 0, unknown: 0 };
    assert.deepEqual(counts, {
      trackables_no: 3,
      trackables_no_active: 1,
      locationproviders_no: 3,
      locationproviders_no_active: 2,
      locationproviders_by_type_no: { ...none, uwb: 2, rfid: 1 },
      locationproviders_by_type_no_active: { ...none, uwb: 1, rfid: 1 },
    });
  });
});
