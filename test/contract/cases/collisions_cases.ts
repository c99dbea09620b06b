import assert from 'node:assert/strict';
import type { TestHub } from '../../support/running_hub.ts';
import type { Event, Recorder } from '../../support/socket_client.ts';
import type { ContractCase, CaseHub } from './contract_case.ts';

const DELAY_MS = 300;
const SETTINGS = { restart_event_delay: DELAY_MS };
const ALWAYS_STORED = 'a cluster always stores locations';
/** Trackables by the last letter of their ids. */
const NAMES = ['a', 'b', 'c', 'd'] as const;
type Name = (typeof NAMES)[number];

const idOf = (name: Name): string => `0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a600${name}`;

/** Creates four trackables with a radius of 1 m, each with a provider of its name. */
async function prepare(hub: TestHub, more = {}): Promise<void> {
  for (const name of NAMES) {
    const body = { id: idOf(name), type: 'omlox', location_providers: [`tag-${name}`], radius: 1, ...more };
    assert.equal((await hub.post('/trackables', body)).status, 201);
  }
}

/** Moves a trackable some meters east. */
async function drive(hub: TestHub, name: Name, east: number): Promise<void> {
  const location = {
    provider_id: `tag-${name}`,
    provider_type: 'uwb',
    source: 'test',
    crs: 'EPSG:4326',
    position: { type: 'Point', coordinates: [9 + east / 71_695.6, 50] },
  };
  assert.equal((await hub.put(`/providers/tag-${name}/location`, location)).status, 204);
  await hub.settle();
}

/** Formats published events: `start b a` means that b has collided with a. */
function published({ events }: Recorder): string[] {
  return events.map(({ collision_type: type, collisions }: Event) => {
    const [mover, other] = collisions.map(({ id }: Event) => id.at(-1));
    return `${type.replace('collision_', '')} ${mover} ${other}`;
  });
}

/** `a` and `b` touch, `c` and `d` are alone. Returns the start time of the collision. */
async function park(hub: TestHub): Promise<string> {
  await prepare(hub);
  const events = await hub.subscribe('collision_events');
  await drive(hub, 'a', 0);
  await drive(hub, 'b', 1.5);
  await drive(hub, 'c', 20);
  await drive(hub, 'd', 40);
  assert.deepEqual(published(events), ['start b a']);
  return events.events[0]?.start_time;
}

/** Invariants after a restart of a hub or of its collision worker. */
interface Restart {
  readonly name: string;
  readonly isRestart: boolean;
  begin(caseHub: CaseHub): Promise<TestHub>;
}

const RESTARTS: readonly Restart[] = [
  { name: 'after a restart', isRestart: true, begin: ({ restart }) => restart() },
  {
    name: 'after the death of the collision worker',
    isRestart: false,
    async begin({ hub }) {
      await hub.hub.collisions.kill();
      return hub;
    },
  },
];

const SURVIVING = RESTARTS.flatMap(({ name, isRestart, begin }): ContractCase[] => [
  {
    by: '98',
    name: `A vehicle that drives into a parked one collides with it ${name}`,
    settings: SETTINGS,
    async run(caseHub) {
      await park(caseHub.hub);
      const hub = await begin(caseHub);
      const events = await hub.subscribe('collision_events');
      await drive(hub, 'c', 38.5);
      await drive(hub, 'c', 20);
      assert.deepEqual(published(events), ['start c d', 'end c d']);
    },
  },
  {
    by: '98',
    name: `A pair continues ${name} without a second start, and ends once when it separates`,
    settings: SETTINGS,
    async run(caseHub) {
      const startTime = await park(caseHub.hub);
      const hub = await begin(caseHub);
      const events = await hub.subscribe('collision_events');
      await drive(hub, 'a', 0.1);
      await drive(hub, 'b', 1.4);
      await drive(hub, 'b', 9);
      await drive(hub, 'a', -9);
      assert.deepEqual(published(events), ['colliding a b', 'colliding b a', 'end b a']);
      assert.deepEqual([...new Set(events.events.map(({ start_time }) => start_time))], [startTime]);
      await drive(hub, 'b', -8);
      assert.equal(published(events).at(-1), 'start b a');
    },
  },
  {
    by: '98',
    name: `Deleting a trackable ends its collision ${name}`,
    settings: SETTINGS,
    async run(caseHub) {
      const startTime = await park(caseHub.hub);
      const hub = await begin(caseHub);
      const events = await hub.subscribe('collision_events');
      assert.equal((await hub.delete(`/trackables/${idOf('a')}`)).status, 204);
      await hub.settle();
      assert.deepEqual(published(events), ['end a b']);
      const [end] = events.events;
      assert.equal(end?.start_time, startTime);
      assert.deepEqual(
        end?.collisions.map(({ position }: Event) => position.coordinates[1]),
        [50, 50],
      );
    },
  },
  {
    by: '98',
    name: `Deleting the location of a parked trackable ends its collision ${name}`,
    settings: SETTINGS,
    async run(caseHub) {
      await park(caseHub.hub);
      const hub = await begin(caseHub);
      const events = await hub.subscribe('collision_events');
      assert.equal((await hub.delete('/providers/tag-b/location')).status, 204);
      await hub.settle();
      assert.deepEqual(published(events), ['end b a']);
    },
  },
  {
    by: '98',
    name: `A running tolerance timeout restarts ${name}`,
    ...(isRestart && { alone: 'in a cluster it continues' }),
    settings: SETTINGS,
    async run(caseHub) {
      await prepare(caseHub.hub, { exit_tolerance: 5, tolerance_timeout: 1000 });
      await drive(caseHub.hub, 'a', 0);
      await drive(caseHub.hub, 'b', 1);
      await drive(caseHub.hub, 'b', 4);
      const hub = await begin(caseHub);
      const events = await hub.subscribe('collision_events');
      await drive(hub, 'c', 100);
      await events.next(({ collision_type: type }) => type === 'collision_end');
      assert.deepEqual(published(events), ['end b a']);
    },
  },
]);

/** Collisions across restarts, and across the death of their worker. */
export const COLLISION_CASES: readonly ContractCase[] = [
  ...SURVIVING,
  {
    by: 'decision 121',
    name: 'Two trackables collide until they are farther apart than the sum of their exit tolerances',
    async run({ hub }) {
      await prepare(hub, { exit_tolerance: 2 });
      const events = await hub.subscribe('collision_events');
      await drive(hub, 'a', 0);
      for (const east of [1.5, 4.5, 5.9, 6.1]) await drive(hub, 'b', east);
      assert.deepEqual(published(events), ['start b a', 'colliding b a', 'colliding b a', 'end b a']);
    },
  },
  {
    by: '98',
    name: 'A collision that has ended is not started again by a restart',
    settings: SETTINGS,
    async run({ hub, restart }) {
      await park(hub);
      await drive(hub, 'b', 9);
      const second = await restart();
      const events = await second.subscribe('collision_events');
      await drive(second, 'a', 0);
      await drive(second, 'b', 9);
      assert.deepEqual(published(events), []);
    },
  },
  {
    by: '98',
    name: 'Two trackables that move together after a restart continue to collide',
    alone: 'the successor of a hub publishes collisions after restart_event_delay',
    settings: { restart_event_delay: 10_000 },
    async run({ hub, restart }) {
      await park(hub);
      const second = await restart();
      const events = await second.subscribe('collision_events');
      await drive(second, 'a', 5);
      await drive(second, 'b', 6.5);
      assert.deepEqual(published(events), ['colliding b a']);
      await drive(second, 'a', 9);
      assert.deepEqual(published(events), ['colliding b a', 'end a b']);
    },
  },
  {
    by: '98',
    name: 'A trackable that moves away from a silent one after a restart ends the collision after restart_event_delay',
    settings: SETTINGS,
    async run({ hub, restart }) {
      await park(hub);
      const second = await restart();
      const events = await second.subscribe('collision_events');
      await drive(second, 'a', 5);
      await events.next(({ collision_type: type }) => type === 'collision_end');
      assert.deepEqual(published(events), ['end a b']);
    },
  },
  {
    by: '98',
    name: 'A collision survives several restarts, and the death of a worker',
    settings: SETTINGS,
    async run({ hub, restart }) {
      const startTime = await park(hub);
      await restart();
      const third = await restart();
      await third.hub.collisions.kill();
      const events = await third.subscribe('collision_events');
      await drive(third, 'a', -5);
      await events.next(({ collision_type: type }) => type === 'collision_end');
      assert.deepEqual(published(events), ['end a b']);
      assert.equal(events.events[0]?.start_time, startTime);
    },
  },
  {
    by: '98',
    name: 'If locations do not survive a restart, neither do collisions',
    alone: ALWAYS_STORED,
    settings: { ...SETTINGS, persist_locations: false },
    async run({ hub, restart }) {
      await park(hub);
      const second = await restart();
      const events = await second.subscribe('collision_events');
      await drive(second, 'b', 1.5);
      assert.deepEqual(published(events), []);
      await drive(second, 'a', 0);
      assert.deepEqual(published(events), ['start a b']);
    },
  },
  {
    by: '98',
    name: 'Without locations that survive a restart, collisions still survive the death of their worker',
    alone: ALWAYS_STORED,
    settings: { ...SETTINGS, persist_locations: false },
    async run({ hub }) {
      await park(hub);
      await hub.hub.collisions.kill();
      const events = await hub.subscribe('collision_events');
      await drive(hub, 'b', 9);
      assert.deepEqual(published(events), ['end b a']);
    },
  },
];
