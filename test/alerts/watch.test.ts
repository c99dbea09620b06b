import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removalsFor } from '../../src/alerts/alert_room.ts';
import { after, byRaised, raised, type AlertSignal } from '../../src/alerts/alert_state.ts';
import { step } from '../../src/alerts/watch.ts';
import { nextMs, unraisedCounts, type WatchEvent, type WatchState, watchState } from '../../src/alerts/watch_state.ts';
import { destination } from '../../src/core/geo/geodesic.ts';
import type { Alert, AlertRule } from '../../src/model/alert.ts';
import { diceOf } from '../support/dice.ts';

const RULE: AlertRule = { id: 'r', name: 'Dock', kind: 'entry' };

/** Formats an alert: `raised`, `raised, over` … */
function inWords({ state, over_at: over }: Alert): string {
  return over == null ? state : `${state}, over`;
}

const NEW = raised(RULE, { fenceId: 'f', trackableId: 't' }, { id: 'a', nowMs: 1000 });

for (const [signals, state] of [
  [[], 'raised'],
  [['begins'], 'raised'],
  [['ends'], 'raised, over'],
  [['ends', 'begins'], 'raised'],
  [['ends', 'acknowledge'], 'cleared, over'],
  [['ends', 'clear'], 'cleared, over'],
  [['acknowledge'], 'acknowledged'],
  [['acknowledge', 'acknowledge'], 'acknowledged'],
  [['acknowledge', 'ends'], 'cleared, over'],
  [['acknowledge', 'clear'], 'cleared'],
  [['clear'], 'cleared'],
  [['clear', 'begins'], 'cleared'],
  [['clear', 'acknowledge'], 'cleared'],
  [['clear', 'ends'], 'cleared, over'],
  [['clear', 'ends', 'begins'], 'cleared, over'],
] satisfies [AlertSignal[], string][]) {
  test(`an alert that ${signals.join(', ') || 'is new'} is ${state}`, () => {
    assert.equal(inWords(signals.reduce((alert, signal) => after(alert, signal, 2000), NEW)), state);
  });
}

test('an alert that is raised again counts its times', () => {
  const again = after(after(NEW, 'ends', 2000), 'begins', 3000);
  assert.deepEqual([again.times, again.over_at, again.raised_at], [2, undefined, NEW.raised_at]);
});

test('alerts of the same time have the same order, however they are stored', () => {
  const alerts = [NEW, { ...NEW, id: 'b' }, { ...NEW, id: 'c', raised_at: '1970-01-01T00:00:00.500Z' }];
  for (const stored of [alerts, alerts.toReversed()]) {
    assert.deepEqual(
      stored.toSorted(byRaised).map(({ id }) => id),
      ['c', 'a', 'b'],
    );
  }
});

/** A site with the fences `f` and `g`, and trackables and providers with some properties. */
class Site {
  state: WatchState = watchState();
  readonly trackables = new Map<string, object>([
    ['t', { kind: 'truck' }],
    ['u', { kind: 'truck' }],
    ['v', { kind: 'person' }],
  ]);
  /** `a` is assigned to a trackable; `p` and `q` are not. */
  readonly providers = new Map<string, object>([
    ['p', {}],
    ['q', { kind: 'truck' }],
    ['a', { kind: 'truck' }],
  ]);
  readonly assigned = new Set(['a']);
  readonly fences = new Set(['f', 'g']);
  readonly alertsMax: number;
  readonly rules: readonly AlertRule[];
  #ids = 0;

  constructor(rules: readonly Partial<AlertRule>[], alertsMax = 100) {
    this.alertsMax = alertsMax;
    this.rules = rules.map((rule, i) => ({ ...RULE, id: `r${i}`, ...rule }));
    this.at(0, this.inside({}));
  }

  /** All rules, and the entry times of the trackables inside `f`. */
  inside(since: Readonly<Record<string, number>>): WatchEvent {
    const stays = Object.entries(since).map(([trackableId, sinceMs]) => ({ fenceId: 'f', trackableId, sinceMs }));
    return { what: 'rules', rules: this.rules, stays };
  }

  /** Formatted changes of alerts. */
  at(nowMs: number, ...events: readonly WatchEvent[]): readonly string[] {
    const { state, changes } = step(this.state, {
      nowMs,
      wallClockMs: nowMs,
      events,
      newId: () => `a${++this.#ids}`,
      alertsMax: this.alertsMax,
      entities: {
        fence: (id) => (this.fences.has(id) ? { id } : undefined),
        trackable: (id) => {
          const properties = this.trackables.get(id);
          return properties && { id, properties };
        },
        trackables: () => [...this.trackables.keys()].map((id) => ({ id })),
        provider: (id) => {
          const properties = this.providers.get(id);
          return properties && { id, properties };
        },
        providers: () => [...this.providers.keys()].map((id) => ({ id })),
        isAssigned: (id) => this.assigned.has(id),
      },
    });
    this.state = state;
    return [...changes].map(([id, alert]) => {
      if (alert === undefined) return `${id} removed`;
      const { fence_id, trackable_id, other_trackable_id, provider_id } = alert;
      const about = [fence_id, trackable_id, other_trackable_id, provider_id].filter((each) => each != null);
      return `${about.join(' ')} ${inWords(alert)}`;
    });
  }
}

const entered = (fenceId: string, trackableId: string): WatchEvent => ({ what: 'entered', fenceId, trackableId });
const left = (fenceId: string, trackableId: string): WatchEvent => ({ what: 'left', fenceId, trackableId });
const providerEntered = (fenceId: string, providerId: string): WatchEvent => ({ what: 'entered', fenceId, providerId });
const providerLeft = (fenceId: string, providerId: string): WatchEvent => ({ what: 'left', fenceId, providerId });
const seen = (times: Record<string, number>, ofProviders: Record<string, number> = {}): WatchEvent => ({
  what: 'lastSeen',
  lastSeen: { trackables: new Map(Object.entries(times)), providers: new Map(Object.entries(ofProviders)) },
});
const collided: WatchEvent = { what: 'collided', trackableId: 't', otherId: 'v' };
const parted: WatchEvent = { what: 'parted', trackableId: 'v', otherId: 't' };

const crossed = (fenceId: string, trackableId: string, direction: 'left' | 'right'): WatchEvent => ({
  ...{ what: 'crossed', fenceId, trackableId, direction },
});
/** Speeds in meters per second, and positions in meters east and north of a point on the antimeridian, with a floor. */
const sampled = (
  speeds: Readonly<Record<string, number>>,
  positions: Readonly<Record<string, readonly [x: number, y: number, floor?: number]>> = {},
): WatchEvent => ({
  what: 'sampled',
  sample: {
    speeds: Object.entries(speeds).map(([trackableId, speed]) => [{ trackableId }, speed]),
    positions: new Map(
      Object.entries(positions).map(([id, [x, y, floor = 0]]) => {
        const out: [number, number] = [0, 0];
        destination(179.99999, 50, (Math.atan2(x, y) * 180) / Math.PI, Math.hypot(x, y), out);
        return [id, { lon: out[0], lat: out[1], floor }];
      }),
    ),
  },
});
const DAY_MS = 86_400_000;

/** `inside`: entry times of the trackables that the query returns as inside. */
type Step = readonly [
  nowMs: number,
  events: readonly WatchEvent[],
  changes: readonly string[],
  inside?: Readonly<Record<string, number>>,
];

interface Case {
  readonly name: string;
  readonly rule: Partial<AlertRule>;
  readonly steps: readonly Step[];
}

const CASES: readonly Case[] = [
  {
    name: 'an entry alert is over when the object leaves',
    rule: { kind: 'entry', fence_ids: ['f'] },
    steps: [
      [1, [entered('g', 't')], []],
      [2, [entered('f', 't')], ['f t raised']],
      [3, [entered('f', 't')], []],
      [4, [left('f', 't')], ['f t raised, over']],
    ],
  },
  {
    name: 'an exit alert is over when the object is back',
    rule: { kind: 'exit' },
    steps: [
      [1, [entered('f', 't')], []],
      [2, [left('f', 't')], ['f t raised']],
      [3, [entered('f', 't')], ['f t raised, over']],
    ],
  },
  {
    name: 'a stay raises an alert when it is too long, and not a moment before',
    rule: { kind: 'inside_longer', longer_than: 1000 },
    steps: [
      [1, [entered('f', 't'), entered('f', 'u')], []],
      [500, [left('f', 'u')], []],
      [1000, [], []],
      [1001, [], ['f t raised']],
      [1500, [left('f', 't')], ['f t raised, over']],
      [1600, [entered('f', 't')], []],
      [2600, [], ['f t raised']],
    ],
  },
  {
    name: 'the stay of an object inside at start counts from its entry',
    rule: { kind: 'inside_longer', longer_than: 1000 },
    steps: [
      [5000, [], [], { t: 4500 }],
      [5499, [], []],
      [5500, [], ['f t raised']],
    ],
  },
  {
    name: 'an object inside at start has not entered',
    rule: { kind: 'entry' },
    steps: [
      [5000, [], [], { t: 4500 }],
      [6000, [entered('f', 't')], []],
      [7000, [left('f', 't'), entered('f', 't')], ['f t raised']],
    ],
  },
  {
    name: 'a crowd alert lasts as long as the crowd',
    rule: { kind: 'more_inside', more_than: 1 },
    steps: [
      [1, [entered('f', 't'), entered('g', 'u')], []],
      [2, [entered('f', 'u')], ['f raised']],
      [3, [entered('f', 'v')], []],
      [4, [left('f', 't')], []],
      [5, [left('f', 'u')], ['f raised, over']],
    ],
  },
  {
    name: 'a crowd counts only objects that the rule concerns',
    rule: { kind: 'more_inside', more_than: 1, property: { name: 'kind', value: 'truck' } },
    steps: [
      [1, [entered('f', 't'), entered('f', 'v')], []],
      [2, [entered('f', 'u')], ['f raised']],
      [3, [left('f', 'v')], []],
    ],
  },
  {
    name: 'a crowd counts only objects that the rule names',
    rule: { kind: 'more_inside', more_than: 1, trackable_ids: ['t', 'u'] },
    steps: [
      [1, [entered('f', 't'), entered('f', 'v')], []],
      [2, [entered('f', 'u')], ['f raised']],
    ],
  },
  {
    name: 'a silence alert is over when the object is seen again',
    rule: { kind: 'silent', longer_than: 1000 },
    steps: [
      [1500, [seen({ t: 500, u: 900 })], []],
      [1501, [seen({ t: 500, u: 900 })], ['t raised']],
      [1600, [seen({ t: 1550, u: 900 })], ['t raised, over']],
    ],
  },
  {
    name: 'a collision alert is over when the collision ends, in either order of the two trackables',
    rule: { kind: 'collision', trackable_ids: ['v'] },
    steps: [
      [1, [{ what: 'collided', trackableId: 't', otherId: 'u' }], []],
      [2, [collided], ['t v raised']],
      [3, [parted], ['t v raised, over']],
    ],
  },
  {
    name: 'a rule without object_type concerns trackables and not providers',
    rule: { kind: 'more_inside', more_than: 0 },
    steps: [
      [1, [providerEntered('f', 'p')], []],
      [2, [entered('f', 't')], ['f raised']],
    ],
  },
  {
    name: 'a rule on providers concerns those without a trackable, and no trackables',
    rule: { kind: 'entry', object_type: 'location_provider' },
    steps: [
      [1, [entered('f', 't'), providerEntered('f', 'a')], []],
      [2, [providerEntered('f', 'p')], ['f p raised']],
      [3, [left('f', 'p')], []],
      [4, [providerLeft('f', 'p')], ['f p raised, over']],
    ],
  },
  {
    name: 'a rule that names providers concerns them even if they move a trackable',
    rule: { kind: 'exit', object_type: 'location_provider', provider_ids: ['a'] },
    steps: [
      [1, [providerEntered('f', 'a'), providerEntered('f', 'p')], []],
      [2, [providerLeft('f', 'a'), providerLeft('f', 'p')], ['f a raised']],
    ],
  },
  {
    name: 'a stay of a provider raises an alert when it is too long',
    rule: { kind: 'inside_longer', longer_than: 1000, object_type: 'any' },
    steps: [
      [1, [providerEntered('f', 'p'), providerEntered('f', 'a')], []],
      [1001, [], ['f p raised']],
    ],
  },
  {
    name: 'a crowd counts providers with a property as well as trackables',
    rule: { kind: 'more_inside', more_than: 1, object_type: 'any', property: { name: 'kind', value: 'truck' } },
    steps: [
      [1, [entered('f', 't'), providerEntered('f', 'p'), providerEntered('f', 'a')], []],
      [2, [providerEntered('f', 'q')], ['f raised']],
      [3, [providerLeft('f', 'q')], ['f raised, over']],
    ],
  },
  {
    name: 'a silence alert of a provider is over when it is seen again',
    rule: { kind: 'silent', longer_than: 1000, object_type: 'any' },
    steps: [
      [1501, [seen({ t: 500 }, { p: 500, q: 501, a: 500 })], ['t raised', 'p raised']],
      [1600, [seen({ t: 1550 }, { p: 1550, q: 1550, a: 500 })], ['t raised, over', 'p raised, over']],
    ],
  },
  {
    name: 'an acknowledged alert is cleared when its condition ends',
    rule: { kind: 'entry' },
    steps: [
      [1, [entered('f', 't')], ['f t raised']],
      [2, [{ what: 'acted', action: { act: 'acknowledge' }, ids: ['a1', 'nobody'] }], ['f t acknowledged']],
      [3, [left('f', 't')], ['f t cleared, over']],
      [4, [entered('f', 't')], ['f t raised']],
    ],
  },
  {
    name: 'an alert cleared while its condition holds is raised again only after the condition has ended',
    rule: { kind: 'entry' },
    steps: [
      [1, [entered('f', 't')], ['f t raised']],
      [2, [{ what: 'acted', action: { act: 'clear' }, ids: ['a1'] }], ['f t cleared']],
      [3, [{ what: 'changed' }], []],
      [4, [left('f', 't')], ['f t cleared, over']],
      [5, [entered('f', 't')], ['f t raised']],
    ],
  },
  {
    name: 'a disabled rule raises no alerts, and its alerts are over',
    rule: { kind: 'entry' },
    steps: [
      [1, [entered('f', 't')], ['f t raised']],
      [2, [{ what: 'rules', rules: [{ ...RULE, id: 'r0', enabled: false }], stays: [] }], ['f t raised, over']],
      [3, [entered('f', 'u')], []],
    ],
  },
  {
    name: 'a schedule ends the conditions of its rule, and lasting ones begin again with it',
    rule: { kind: 'more_inside', more_than: 0, schedule: { from: '00:01', to: '00:02' } },
    steps: [
      [10_000, [entered('f', 't')], []],
      [60_000, [], ['f raised']],
      [119_999, [], []],
      [120_000, [], ['f raised, over']],
      [DAY_MS + 59_999, [], []],
      [DAY_MS + 60_000, [], ['f raised']],
    ],
  },
  {
    name: 'an entry outside of the schedule raises no alert',
    rule: { kind: 'entry', schedule: { days: ['thursday'], from: '00:01', to: '00:02' } },
    steps: [
      [10_000, [entered('f', 't')], []],
      [60_000, [entered('f', 'u')], ['f u raised']],
      [120_000, [entered('f', 'v')], ['f u raised, over']],
    ],
  },
  {
    name: 'a time inside counts from the entry, also before the schedule',
    rule: { kind: 'inside_longer', longer_than: 30_000, schedule: { from: '00:01' } },
    steps: [
      [10_000, [entered('f', 't')], []],
      [50_000, [entered('f', 'u')], []],
      [60_000, [], ['f t raised']],
      [80_000, [], ['f u raised']],
    ],
  },
  {
    name: 'the schedule of a rule applies when the clock steps back',
    rule: { kind: 'more_inside', more_than: 0, schedule: { from: '00:01' } },
    steps: [
      [60_000, [entered('f', 't')], ['f raised']],
      [59_000, [], ['f raised, over']],
    ],
  },
  {
    name: 'fewer objects in a fence than a number raise an alert, as does an empty fence',
    rule: { kind: 'count_below', fewer_than: 2, fence_ids: ['f'] },
    steps: [
      [1, [{ what: 'changed' }], []],
      [2, [entered('g', 'v'), entered('f', 't')], []],
      [3, [entered('f', 'u')], ['f raised, over']],
      [4, [left('f', 't')], ['f raised']],
    ],
  },
  {
    name: 'a low number raises an alert after it has lasted, and a change of rules does not restart its time',
    rule: { kind: 'count_below', fewer_than: 1, fence_ids: ['f'], longer_than: 1000 },
    steps: [
      [500, [entered('f', 't')], []],
      [600, [left('f', 't')], []],
      [900, [{ what: 'changed' }], []],
      [1599, [], []],
      [1600, [], ['f raised']],
      [1700, [entered('f', 't')], ['f raised, over']],
    ],
  },
  {
    name: 'a crossing of a gate in the direction of the rule raises an alert, which is over at once',
    rule: { kind: 'gate', fence_ids: ['f'], direction: 'left' },
    steps: [
      [1, [crossed('f', 't', 'right'), crossed('g', 't', 'left')], []],
      [2, [crossed('f', 't', 'left')], ['f t raised, over']],
      [3, [crossed('f', 't', 'left')], ['f t raised, over']],
      [4, [{ what: 'acted', action: { act: 'acknowledge' }, ids: ['a1'] }], ['f t cleared, over']],
      [5, [crossed('f', 't', 'left')], ['f t raised, over']],
    ],
  },
  {
    name: 'an object faster than the limit raises an alert until it is slower',
    rule: { kind: 'speed', speed_above: 2 },
    steps: [
      [1, [sampled({ t: 2, u: 2.1 })], ['u raised']],
      [2, [sampled({ t: 3, u: 2 })], ['t raised', 'u raised, over']],
    ],
  },
  {
    name: 'a speed raises an alert after it has lasted, and one slow sample restarts its time',
    rule: { kind: 'speed', speed_above: 2, longer_than: 3000, property: { name: 'kind', value: 'truck' } },
    steps: [
      [0, [sampled({ t: 3, u: 3, v: 9 })], []],
      [1000, [sampled({ t: 3 })], []],
      [2000, [sampled({ t: 3, u: 3 })], []],
      [3000, [], ['t raised']],
      [4999, [sampled({ t: 3, u: 3 })], []],
      [5000, [], ['u raised']],
    ],
  },
  {
    name: 'a speed inside a fence raises an alert only there',
    rule: { kind: 'speed', speed_above: 2, fence_ids: ['f'] },
    steps: [
      [1, [entered('f', 't'), entered('g', 'u'), sampled({ t: 3, u: 3, v: 3 })], ['f t raised']],
      [2, [left('f', 't'), sampled({ t: 3 })], ['f t raised, over']],
    ],
  },
  {
    name: 'two trackables are separated beyond the distance, or on different floors, as one alert',
    rule: { kind: 'separated', trackable_ids: ['t', 'u'], distance: 10 },
    steps: [
      [1, [sampled({}, { t: [0, 0] })], []],
      [2, [sampled({}, { t: [0, 0], u: [9.9, 0] })], []],
      [3, [sampled({}, { t: [0, 0], u: [10.1, 0] })], ['t u raised']],
      [4, [sampled({}, { t: [0, 0], u: [0, 9.9] })], ['t u raised, over']],
      [5, [sampled({}, { t: [0, 0], u: [0, 1, 2] })], ['t u raised']],
    ],
  },
  {
    name: 'a trackable is separated while none of the others is within the distance',
    rule: { kind: 'separated', trackable_ids: ['t'], other_trackable_ids: ['u', 'v'], distance: 10, longer_than: 2000 },
    steps: [
      [0, [sampled({}, { t: [0, 0], u: [50, 0], v: [5, 0] })], []],
      [1000, [sampled({}, { t: [0, 0], u: [50, 0], v: [50, 0] })], []],
      [3000, [], ['t raised']],
      [4000, [sampled({}, { t: [0, 0], u: [5, 5], v: [50, 0] })], ['t raised, over']],
    ],
  },
  {
    name: 'each pair of trackables within the distance raises an alert',
    rule: { kind: 'together', trackable_ids: ['t', 'u', 'v'], distance: 2 },
    steps: [
      [1, [sampled({}, { t: [0, 0], u: [1.5, 0], v: [3, 0] })], ['t u raised', 'u v raised']],
      [2, [sampled({}, { t: [0, 0], u: [1.5, 0], v: [30, 0] })], ['u v raised, over']],
    ],
  },
];

for (const { name, rule, steps } of CASES) {
  test(name, () => {
    const site = new Site([rule]);
    for (const [nowMs, events, changes, inside] of steps) {
      const reported = inside === undefined ? events : [site.inside(inside)];
      assert.deepEqual(site.at(nowMs, ...reported), changes, `at ${nowMs}`);
    }
  });
}

test('after a restart, conditions on speeds and distances last until the first sample without them', () => {
  const site = new Site([
    { kind: 'speed', speed_above: 2, longer_than: 1000 },
    { kind: 'separated', trackable_ids: ['t', 'u'], distance: 10 },
  ]);
  const apart = { t: [0, 0], u: [20, 0] } as const;
  site.at(0, sampled({ t: 3, v: 3 }, apart));
  assert.equal(site.at(1000).length, 2);
  const again = new Site(site.rules);
  again.state = watchState(site.state.alerts.values());
  assert.deepEqual(again.at(2000, again.inside({})), []);
  assert.deepEqual(again.at(2500, sampled({ t: 3 }, apart)), ['v raised, over']);
  assert.deepEqual(again.at(3000, sampled({ t: 1 }, apart)), ['t raised, over']);
});

test('a rule evaluates at most 1,000 pairs of trackables', () => {
  const ids = Array.from({ length: 100 }, (_, i) => `x${i}`);
  const site = new Site([]);
  for (const id of ids) site.trackables.set(id, {});
  const rules: AlertRule[] = [{ ...RULE, id: 'r0', kind: 'together', trackable_ids: ids, distance: 5 }];
  const positions = Object.fromEntries(ids.map((id): [string, [number, number]] => [id, [0, 0]]));
  site.at(1, { what: 'rules', rules, stays: [] });
  site.at(2, sampled({}, positions));
  assert.equal(site.state.holding.size, 1000);
});

test('alerts of deleted fences and objects are over', () => {
  const site = new Site([{ kind: 'entry' }, { kind: 'more_inside', more_than: 0 }]);
  assert.deepEqual(site.at(1, entered('f', 't'), entered('g', 'u')).length, 4);
  site.trackables.delete('t');
  site.fences.delete('g');
  const changes = site.at(2, { what: 'changed' });
  assert.deepEqual(changes.toSorted(), ['f raised, over', 'f t raised, over', 'g raised, over', 'g u raised, over']);
});

test('an alert of a provider is over when the provider is assigned to a trackable, and when it is deleted', () => {
  const site = new Site([{ kind: 'entry', object_type: 'any' }]);
  assert.equal(site.at(1, providerEntered('f', 'p'), providerEntered('f', 'q')).length, 2);
  site.assigned.add('p');
  assert.deepEqual(site.at(2, { what: 'changed' }), ['f p raised, over']);
  site.providers.delete('q');
  assert.deepEqual(site.at(3, { what: 'changed' }), ['f q raised, over']);
});

test('a trackable and a provider with the same id are two objects', () => {
  const site = new Site([{ kind: 'entry', object_type: 'any' }]);
  site.providers.set('t', {});
  assert.deepEqual(site.at(1, entered('f', 't'), providerEntered('f', 't')), ['f t raised', 'f t raised']);
  assert.deepEqual(site.at(2, left('f', 't')), ['f t raised, over']);
  const again = new Site([]);
  again.state = watchState(site.state.alerts.values());
  assert.equal(again.state.current.size, 2);
});

test('after a restart open alerts end with their conditions, and cleared ones are not raised again', () => {
  const site = new Site([{ kind: 'inside_longer', longer_than: 1000 }]);
  site.at(0, entered('f', 't'), entered('f', 'u'), entered('f', 'v'));
  site.at(1000);
  const of = (trackable: string) => [...site.state.alerts.values()].filter((alert) => alert.trackable_id === trackable);
  const ids = (trackable: string) => of(trackable).map(({ id }) => id);
  site.at(
    2000,
    { what: 'acted', action: { act: 'clear' }, ids: ids('t') },
    { what: 'acted', action: { act: 'acknowledge' }, ids: ids('u') },
  );
  const again = new Site([]);
  again.state = watchState(site.state.alerts.values());
  assert.deepEqual(again.at(3000, site.inside({ t: 0, u: 0 })), ['f v raised, over']);
  assert.deepEqual(again.at(4000, left('f', 't'), left('f', 'u')), ['f t cleared, over', 'f u cleared, over']);
});

test('a condition without room for its alert is counted, and raised as soon as there is room', () => {
  const site = new Site([{ kind: 'entry' }], 2);
  site.at(1, entered('f', 't'), entered('f', 'u'));
  assert.deepEqual(site.at(2, entered('f', 'v'), entered('g', 'v')), []);
  assert.deepEqual([site.state.dropped, site.state.raisedTotal], [2, 2]);
  assert.deepEqual(unraisedCounts(site.state), { info: 0, warning: 2, critical: 0 });
  assert.deepEqual(site.at(3, { what: 'acted', action: { act: 'clear' }, ids: ['a1'] }), ['a1 removed', 'f v raised']);
  assert.deepEqual(site.at(4, left('g', 'v')), []);
  assert.deepEqual(unraisedCounts(site.state), { info: 0, warning: 0, critical: 0 });
});

/** Alerts as letters, the oldest first: the initial of their severity, in upper case while they are open. */
function storedAs(words: string): ReadonlyMap<string, Alert> {
  const severities = { i: 'info', w: 'warning', c: 'critical' } as const;
  const alerts = [...words].map((word, i): Alert => {
    const severity = severities[word.toLowerCase() as keyof typeof severities];
    const alert = { ...NEW, id: `${word}${i}`, severity };
    return word === word.toUpperCase() ? alert : { ...alert, state: 'cleared' };
  });
  return new Map(alerts.map((alert) => [alert.id, alert]));
}

// Of ten stored alerts, open info ones may be 5, info and warning ones together 8.
for (const [stored, severity, removed, removedFree] of [
  ['', 'info', '', ''],
  ['IIII', 'info', '', ''],
  ['IIIII', 'info', 'I0', 'none'],
  ['IIIII', 'warning', '', ''],
  ['iiiiiIIIII', 'info', 'I5', 'none'],
  ['iiiiiIIIII', 'critical', 'i0', 'i0'],
  ['IIIIIWWW', 'warning', 'I0', 'none'],
  ['IIIIIWWW', 'critical', '', ''],
  ['WWWWWWWW', 'warning', 'none', 'none'],
  ['WWWWWWWW', 'info', 'none', 'none'],
  ['wWWWWWWWWc', 'critical', 'w0', 'w0'],
  ['IIIIIIIIII', 'critical', 'I0', 'none'],
  ['CWWWWWWWWI', 'critical', 'I9', 'none'],
  ['CCWWWWWWWW', 'critical', 'W2', 'none'],
  ['CCCCCCCCCC', 'critical', 'none', 'none'],
  ['CCCCCCCCCC', 'info', 'none', 'none'],
  ['cccccccccccc', 'info', 'c0 c1 c2', 'c0 c1 c2'],
] satisfies [string, AlertRule['severity'], string, string][]) {
  test(`next to the alerts "${stored}" one of severity ${severity} removes ${removed || 'nothing'}`, () => {
    const inWords = (removals: readonly Alert[] | undefined): string =>
      removals === undefined ? 'none' : removals.map(({ id }) => id).join(' ');
    const alerts = storedAs(stored);
    assert.equal(inWords(removalsFor(severity, alerts, { max: 10 })), removed);
    assert.equal(inWords(removalsFor(severity, alerts, { max: 10, onlyFree: true })), removedFree);
  });
}

test('a displaced alert whose condition holds is raised again when there is room, with the current severity of its rule', () => {
  const site = new Site([{ kind: 'entry', severity: 'info' }], 2);
  site.at(1, entered('f', 't'));
  assert.deepEqual(site.at(2, entered('f', 'u')), ['a1 removed', 'f u raised']);
  assert.deepEqual([site.state.displaced, unraisedCounts(site.state).info], [1, 1]);
  const [rule] = site.rules;
  if (rule === undefined) throw new Error('there is no rule');
  const stays = ['t', 'u'].map((trackableId) => ({ fenceId: 'f', trackableId, sinceMs: 0 }));
  const changed = site.at(3, { what: 'rules', rules: [{ ...rule, severity: 'critical' }], stays });
  assert.deepEqual(changed, ['f t raised']);
  assert.equal(site.state.alerts.get('a3')?.severity, 'critical');
});

test('An entry that the shards know before its event raises an alert, also if other rules begin in between', () => {
  const open = () => new Site([{ kind: 'entry' }]);
  const stays = [{ fenceId: 'f', trackableId: 't', sinceMs: 0 }];
  const [known, missed] = [open(), open()];
  assert.deepEqual(known.at(1, { what: 'rules', rules: known.rules, stays, isComplete: true }), []);
  assert.deepEqual(known.at(2, entered('f', 't')), ['f t raised']);
  assert.deepEqual(known.at(3, { what: 'rules', rules: known.rules, stays: [], isComplete: true }), []);
  assert.deepEqual(known.at(4, entered('f', 't')), [], 'its exit is still to come');
  // After lost events, the shards are right.
  assert.deepEqual(missed.at(1, { what: 'rules', rules: missed.rules, stays }), []);
  assert.deepEqual(missed.at(2, entered('f', 't')), []);
});

test('after random events a subject has at most one alert that is not closed, and conditions match the objects inside', () => {
  const dice = diceOf(4711);
  const pick = <T>(list: readonly T[]): T => list[dice(list.length)] as T;
  for (let round = 0; round < 200; round++) {
    const rules = [
      { kind: 'entry' as const },
      { kind: 'inside_longer' as const, longer_than: 1000 },
      { kind: 'more_inside' as const, more_than: 1 },
    ];
    const site = new Site(rules, 8);
    for (let nowMs = 0; nowMs < 20_000; nowMs += 1 + dice(600)) {
      const ids = [...site.state.alerts.keys()];
      const crossing =
        dice(2) === 0
          ? entered(pick(['f', 'g']), pick(['t', 'u', 'v']))
          : left(pick(['f', 'g']), pick(['t', 'u', 'v']));
      const action = { act: dice(2) === 0 ? ('acknowledge' as const) : ('clear' as const) };
      const act: WatchEvent = { what: 'acted', action, ids: ids.length > 0 ? [pick(ids)] : [] };
      site.at(nowMs, dice(10) < 7 ? crossing : act);
      const { alerts, current, holding, inside } = site.state;
      assert.ok(alerts.size <= 8);
      const undone = [...alerts.values()].filter(({ state, over_at }) => state !== 'cleared' || over_at == null);
      assert.equal(current.size, undone.length);
      for (const { state, over_at } of alerts.values()) assert.ok(!(state === 'acknowledged' && over_at != null));
      const long = [...inside].flatMap(([, stays]) =>
        [...stays.values()].filter(({ sinceMs }) => sinceMs + 1000 <= nowMs),
      );
      assert.equal([...holding.values()].filter(({ ruleId }) => ruleId === 'r1').length, long.length);
      assert.ok(nextMs(site.state) > nowMs);
    }
  }
});
