import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Ownership } from '../../src/cluster/routing/ownership.ts';
import { RemoteShards } from '../../src/cluster/routing/remote_shards.ts';
import type { OwnerClient } from '../../src/cluster/rpc/owner_client.ts';
import { type LocationTarget, LocationRouter } from '../../src/cluster/routing/location_router.ts';
import { PROVIDER_NAME, recordGeneratedMs, recordIdIn, recordSize } from '../../src/core/location/record.ts';
import { ScannedNames } from '../../src/ingest/body_scanner.ts';
import { PARTITIONS, partitionOf } from '../../src/shards/affinity.ts';
import { type CountedRun, recordsIn } from '../../src/wire/received_run.ts';
import { LocationScanner } from '../../wasm/location_scanner.ts';
import { locationOf, T0 } from './owner_server_world.ts';

const SHARDS = 3;
const HUBS = ['a', 'b', 'c'];
const NOBODY = 'nobody';
const LIST: readonly string[] = [];

/** Router of hub `a`, and numbers of locations by the hub that gets them, `shards` for those here. */
function openRoutes() {
  const ownership = new Ownership((_, id) => partitionOf(id));
  const went: [to: string, provider: string, number: number][] = [];
  const state = {
    isServing: true,
    isClear: true,
    hasCapacity: { local: true, remote: true },
    committed: { local: undefined as Promise<void> | undefined, remote: undefined as Promise<void> | undefined },
    forgotten: LIST,
    partial: 0,
  };
  const note = (to: string, { bytes }: CountedRun): void => {
    const records = recordsIn(bytes);
    for (let at = 0; at < bytes.length; at += recordSize(records, at)) {
      went.push([to, recordIdIn(records, at), recordGeneratedMs(records, at) - T0]);
    }
  };
  const router = {
    run(run: CountedRun) {
      const id = recordIdIn(recordsIn(run.bytes), 0);
      assert.equal(run.count, 1);
      note(ownership.serverOf('provider', id) ?? NOBODY, run);
    },
    runTo: (server: string | undefined, run: CountedRun) => note(server ?? NOBODY, run),
    isClear: () => state.isClear,
    hasCapacity: () => state.hasCapacity.remote,
    committed: () => state.committed.remote,
    forget: async (ids: readonly string[]) => {
      state.forgotten = [...state.forgotten, ...ids.map((id) => `${id} elsewhere`)];
    },
  } as unknown as OwnerClient;
  const local: LocationTarget & { readonly count: number } = {
    count: SHARDS,
    homesChanged: 10,
    homeOf: (id) => id.length % SHARDS,
    hasCapacity: () => state.hasCapacity.local,
    committed: () => state.committed.local,
    location: ({ provider_id: id }, { generatedMs }) => void went.push(['shards', id, generatedMs - T0]),
    scanned({ records, start, end, homeOf, nameOf, isPartial, newProviders }) {
      if (isPartial === true) state.partial++;
      for (const id of newProviders) assert.equal(ownership.serverOf('provider', id), 'a');
      for (let at = start; at < end; at += recordSize(records, at)) {
        const name = records.view.getUint32(at + PROVIDER_NAME, true);
        const id = nameOf(name);
        if (isPartial === true && homeOf(name) >= SHARDS) continue;
        assert.equal(homeOf(name), id.length % SHARDS);
        went.push(['shards', id, recordGeneratedMs(records, at) - T0]);
      }
    },
    forget(id) {
      state.forgotten = [...state.forgotten, id];
      return undefined;
    },
  };
  const isServing = (): boolean => state.isServing;
  const remote = new RemoteShards(router);
  const counted: string[] = [];
  const loads = { isSample: () => true, count: (id: string) => void counted.push(id) };
  const routes = new LocationRouter({ incarnation: 'a', ownership, remote, local, isServing, loads });
  const serve = (version: number, owners: readonly string[], open: readonly number[] = []): void => {
    const all = Array.from({ length: PARTITIONS }, (_, partition) => owners[partition % owners.length] as string);
    const map = { epoch: version, owners: all, collisions: '' };
    ownership.set({ version, map, open: new Set(open), migrating: new Set() });
  };
  return { ownership, routes, state, went, serve, counted };
}

const scanner = new LocationScanner({ nameBytes: 1024, propertiesBytes: 65_536 });

/** Passes a body as ingest does, with homes that are looked up once. */
function scan({ routes }: ReturnType<typeof openRoutes>, providers: readonly string[]): void {
  const values = providers.map((provider_id, number) => ({
    position: { type: 'Point', coordinates: [8, 50] },
    ...{ crs: 'EPSG:4326', source: `zone ${number % 3}`, provider_id, provider_type: 'uwb' },
    timestamp_generated: new Date(T0 + number).toISOString(),
  }));
  assert.equal(scanner.list(Buffer.from(JSON.stringify(values)), T0), providers.length);
  const names = new ScannedNames(scanner);
  names.learn(scanner);
  const changes = routes.homesChanged;
  const { start, end } = scanner;
  for (let at = start; at < end; at += recordSize(scanner, at)) {
    const name = scanner.view.getUint32(at + PROVIDER_NAME, true);
    if (names.isKnown(name, changes)) continue;
    names.noteKnown(name, changes);
    names.noteHome(name, routes.homeOf(names.of(name)));
  }
  const newProviders = [...new Set(providers)];
  routes.scanned({
    records: scanner,
    start,
    end,
    receivedMs: T0,
    newProviders,
    nameOf: names.of,
    homeOf: names.homeOf,
  });
}

test('Each location of a body goes to the hub that serves its provider, in order, and after earlier ones', () => {
  const provider = fc.nat(9).map((number) => `tag ${'0'.repeat(number % 4)}${number}`);
  let partial = 0;
  fc.assert(
    fc.property(
      fc.array(provider, { minLength: 1, maxLength: 40 }),
      fc.array(fc.constantFrom(...HUBS), { minLength: 1, maxLength: 4 }),
      fc.record({ isServing: fc.boolean(), isClear: fc.boolean(), isScanned: fc.boolean(), isOpen: fc.boolean() }),
      (providers, hubs, { isServing, isClear, isScanned, isOpen }) => {
        const world = openRoutes();
        const open = isOpen ? providers.slice(0, 2).map(partitionOf) : [];
        world.serve(1, hubs, open);
        Object.assign(world.state, { isServing, isClear });
        if (isScanned) scan(world, providers);
        else {
          for (const [number, id] of providers.entries())
            world.routes.location(locationOf(id, ''), { generatedMs: T0 + number, receivedMs: T0 });
        }
        const wanted = providers.map((id, number) => {
          const server = world.ownership.serverOf('provider', id) ?? NOBODY;
          return [server === 'a' && isServing && isClear ? 'shards' : server, id, number] as const;
        });
        const inOrder = (all: typeof world.went) => all.toSorted(([, , one], [, , other]) => one - other);
        assert.deepEqual(inOrder(world.went), wanted);
        const isAllHere = world.ownership.isWhole && world.ownership.servers.join() === 'a';
        const here = world.went.flatMap(([to, id]) => (to === 'shards' ? [id] : []));
        assert.deepEqual(world.counted, isScanned && isAllHere ? [] : here);
        for (const id of providers) {
          const numbers = world.went.flatMap(([, of, number]) => (of === id ? [number] : []));
          assert.deepEqual(
            numbers,
            numbers.toSorted((one, other) => one - other),
          );
        }
        partial += world.state.partial;
      },
    ),
    { numRuns: 300, seed: 1 },
  );
  assert.ok(partial > 10, `${partial}`);
});

test('The hub that serves at least three quarters of a body is preferred, once, unless it is this one', () => {
  const [own, other, third] = HUBS.map((_, place) => {
    return Array.from({ length: 200 }, (_, number) => `p${number}`).filter((id) => partitionOf(id) % 3 === place);
  }) as [string[], string[], string[]];
  const cases: readonly (readonly [own: number, other: number, third: number, preferred: string | undefined])[] = [
    [0, 1, 0, 'b'],
    [0, 0, 4, 'c'],
    [1, 3, 0, 'b'],
    [2, 5, 0, undefined],
    [1, 2, 1, undefined],
    [1, 1, 6, 'c'],
    [4, 0, 0, undefined],
  ];
  for (const isScanned of [true, false]) {
    const world = openRoutes();
    const { routes, serve, state } = world;
    serve(1, HUBS);
    const pass = (ids: readonly string[]): string | undefined => {
      if (isScanned) scan(world, ids);
      else for (const id of ids) routes.location(locationOf(id, ''), { generatedMs: T0, receivedMs: T0 });
      routes.committed();
      return routes.takePreferred();
    };
    for (const [ofOwn, ofOther, ofThird, preferred] of cases) {
      const ids = [...own.slice(0, ofOwn), ...other.slice(0, ofOther), ...third.slice(0, ofThird)];
      assert.equal(pass(ids), preferred, ids.join());
      assert.equal(routes.takePreferred(), undefined);
    }
    // Nothing is known of unserved providers.
    serve(2, HUBS, other.map(partitionOf));
    assert.equal(pass(other.slice(0, 4)), undefined);
    serve(3, ['a']);
    assert.equal(pass(other), undefined);
    state.isClear = false;
    assert.equal(pass(other), undefined);
  }
});

test('Homes are looked up again after each change of ownership', () => {
  const { routes, serve } = openRoutes();
  const seen = [routes.homesChanged];
  for (const version of [1, 2, 9]) {
    serve(version, HUBS);
    seen.push(routes.homesChanged);
    assert.equal(routes.homesChanged, seen.at(-1));
  }
  assert.equal(new Set(seen).size, seen.length);
});

test('There is capacity if all possible receivers have it', () => {
  const { routes, serve, state } = openRoutes();
  const cases: readonly [
    owners: readonly string[],
    isServing: boolean,
    isClear: boolean,
    local: boolean,
    remote: boolean,
  ][] = [
    [['a'], true, true, true, false],
    [['a'], true, false, false, true],
    [['a', 'b'], true, true, true, true],
    [['b'], true, true, false, true],
    [['a', 'b'], false, true, false, true],
  ];
  for (const [version, [owners, isServing, isClear, local, remote]] of cases.entries()) {
    serve(version + 1, owners);
    Object.assign(state, { isServing, isClear });
    const why = `${owners} ${isServing} ${isClear}`;
    for (const hasCapacity of [
      { local: true, remote: false },
      { local: false, remote: true },
      { local: true, remote: true },
    ]) {
      state.hasCapacity = hasCapacity;
      assert.equal(routes.hasCapacity(1), (!local || hasCapacity.local) && (!remote || hasCapacity.remote), why);
    }
  }
});

test('A body is committed when all its parts are, and a failure reports that some are', async () => {
  const { ownership, routes, serve, state } = openRoutes();
  serve(1, ['a', 'b']);
  const [here, there] = ['a', 'b'].map((owner) => {
    for (let n = 0; ; n++) if (ownership.serverOf('provider', `tag ${n}`) === owner) return `tag ${n}`;
  }) as [string, string];
  const handOver = (id: string): void => routes.location(locationOf(id, ''), { generatedMs: T0, receivedMs: T0 });
  assert.equal(routes.committed(), undefined);
  // The shards of this hub are slow, but were given nothing.
  state.committed = { local: new Promise(() => undefined), remote: Promise.resolve() };
  handOver(there);
  await routes.committed();
  state.committed = { local: Promise.resolve(), remote: undefined };
  handOver(here);
  await routes.committed();
  state.committed = { local: Promise.resolve(), remote: Promise.reject(errorWith('HUB_UNAVAILABLE', 'Cannot')) };
  handOver(here);
  handOver(there);
  await assert.rejects(async () => routes.committed(), { message: 'Cannot; some of them are processed' });
});

test('The location of a provider is deleted at its owner', async () => {
  const { routes, serve, state } = openRoutes();
  serve(1, ['a']);
  assert.equal(routes.forget('p'), undefined);
  state.isClear = false;
  await routes.forget('q');
  serve(2, ['b']);
  await routes.forget('r');
  assert.deepEqual(state.forgotten, ['p', 'q elsewhere', 'r elsewhere']);
});
