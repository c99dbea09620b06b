import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syncedItems } from '../../src/hub-ui/hub/synced_items.ts';

interface Item {
  readonly id: string;
  readonly value: number;
}

const update = (id: string, value: number) => ({ event_type: 'update', id, object: { id, value } }) as const;
const deletion = (id: string) => ({ event_type: 'delete', id, object: { id, value: 0 } }) as const;

function synced() {
  const made = syncedItems<Item>();
  const seen: (readonly (readonly [string, number])[])[] = [];
  let changed = () => {};
  made.items.subscribe((items) => {
    seen.push([...items.values()].map(({ id, value }) => [id, value]));
    changed();
  });
  seen.length = 0;
  const next = () =>
    new Promise<void>((resolve) => {
      changed = resolve;
    });
  return { ...made, seen, next };
}

test('Many changes update the items twice: the first at once, the others together', async () => {
  const { receive, latest, seen, next } = synced();
  receive([update('a', 1)]);
  const later = next();
  for (let value = 2; value <= 800; value++) receive([update('a', value), update('b', value)]);
  receive([deletion('b')]);
  assert.deepEqual(seen, [[['a', 1]]]);
  assert.deepEqual([latest('a')?.value, latest('b')], [800, undefined]);
  await later;
  assert.deepEqual(seen, [[['a', 1]], [['a', 800]]]);
});

test('Changes during the request of a list are newer than the list', async () => {
  const { receive, load, seen } = synced();
  let answer: (items: readonly Item[]) => void = () => {};
  const request = new Promise<readonly Item[]>((resolve) => {
    answer = resolve;
  });
  const loaded = load(() => request);
  receive([update('a', 2), deletion('b')]);
  answer([
    { id: 'a', value: 1 },
    { id: 'b', value: 1 },
    { id: 'c', value: 1 },
  ]);
  assert.equal(await loaded, true);
  assert.deepEqual(seen.at(-1), [
    ['a', 2],
    ['c', 1],
  ]);
});

test('A list that arrives after a later request is ignored, and so is its failure', async () => {
  const { load, items } = synced();
  const answers: { resolve(items: readonly Item[]): void; reject(error: Error): void }[] = [];
  const request = () => new Promise<readonly Item[]>((resolve, reject) => void answers.push({ resolve, reject }));
  const loads = [load(request), load(request), load(request)];
  answers[2]?.resolve([{ id: 'c', value: 3 }]);
  answers[1]?.reject(new Error('away'));
  answers[0]?.resolve([{ id: 'a', value: 1 }]);
  assert.deepEqual(await Promise.all(loads), [false, false, true]);
  assert.deepEqual([...items.value.keys()], ['c']);
  await assert.rejects(
    load(() => Promise.reject(new Error('away'))),
    /away/,
  );
});
