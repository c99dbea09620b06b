import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StateMirror } from '../../src/shards/state_mirror.ts';
import type { LaneItem } from '../../src/wire/location_record.ts';

const again = { seq: 0, receivedMs: 0 };
const entity = { id: 'p', type: 'uwb' } as const;
const CREATED: LaneItem = { ...again, kind: 'provider', id: 'p', entity };
const RELEASED: LaneItem = {
  ...again,
  ...{ kind: 'release', id: 1, sequence: 1, config: 1, providers: ['p'], trackables: [] },
};
const EXPORTED: LaneItem = { ...again, kind: 'exportState', id: 2, providers: ['p'], trackables: [] };
const IMPORTED = {
  ...again,
  kind: 'importState',
  state: { providers: [{ id: 'p', entity }], trackables: [] },
} as never;

for (const [what, items, has] of [
  ['has a created object', [CREATED], true],
  ['does not have a released object', [CREATED, RELEASED], false],
  ['has an object created after its release', [RELEASED, CREATED], true],
  ['has nothing that is in another shard', [CREATED, EXPORTED], false],
  ['has a released object again after its import', [CREATED, RELEASED, IMPORTED], true],
] as const) {
  test(`A mirror of a shard ${what}`, () => {
    const mirror = new StateMirror();
    mirror.apply(items);
    assert.equal(mirror.has('provider', 'p'), has);
  });
}
