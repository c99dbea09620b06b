import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentChanges } from '../../src/shards/recent_changes.ts';
import { commandsOf } from '../../src/shards/shard_commands.ts';
import { SharedObjects } from '../../src/shards/shared_objects.ts';

const CART = { id: 'cart', type: 'omlox', name: 'Cart', location_providers: ['tag'], parent: 'truck' };

/** Objects of a hub to which some trackables migrate. */
function shared(migrating: ReadonlySet<string>) {
  const changes = new RecentChanges(() => 0);
  const inTransit = () => (migrating.size === 0 ? undefined : (id: string) => migrating.has(id));
  return new SharedObjects({ sequence: () => 7, changes, inTransit });
}

const changeOf = (id: string, after: object | undefined) => commandsOf([{ kind: 'trackable', id, after, force: true }]);

test('A change of a trackable that migrates to this hub links it to nothing until it has arrived', () => {
  const migrating = new Set(['cart']);
  const objects = shared(migrating);
  const { location_providers: _, parent: __, ...unlinked } = CART;
  assert.deepEqual(objects.change(changeOf('cart', CART)).commands, [
    { kind: 'trackable', id: 'cart', entity: unlinked, force: false },
  ]);
  assert.deepEqual(objects.arrived().commands, [], 'it migrates still');
  migrating.delete('cart');
  assert.deepEqual(objects.arrived().commands, changeOf('cart', CART));
  assert.deepEqual(objects.arrived().commands, [], 'it is applied once');
});

test('The last change of a migrating trackable is applied before its state, unforced, and all others at once', () => {
  const objects = shared(new Set(['cart']));
  objects.change(changeOf('cart', CART));
  const renamed = { ...CART, name: 'Other' };
  objects.change(changeOf('cart', renamed));
  const other = changeOf('box', { ...CART, id: 'box' });
  assert.deepEqual(objects.change(other).commands, other);
  const { undo } = objects.adopt(7, { providers: [], trackables: ['cart'] });
  assert.deepEqual(undo.commands, [{ ...changeOf('cart', renamed)[0], force: false }]);
  assert.deepEqual(objects.arrived().commands, []);
});

test('The deletion of a migrating trackable is applied at once, and again after its arrival', () => {
  const migrating = new Set(['cart']);
  const objects = shared(migrating);
  const deleted = changeOf('cart', undefined);
  assert.deepEqual(objects.change(deleted).commands, deleted);
  migrating.clear();
  assert.deepEqual(objects.arrived().commands, deleted);
});
