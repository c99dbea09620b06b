import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import {
  changesBetween,
  isUndecided,
  keyOf,
  type RemoteChange,
  type DraftMembers,
  memberChanges,
  merged,
  withMember,
} from '../../src/hub-ui/drafts/member_changes.ts';
import { session } from '../../src/hub-ui/hub/access.ts';
import { deleteDrafts, saveDraft, savedDraft, savedDraftIds } from '../../src/hub-ui/hub/saved_drafts.ts';

const NAMED: DraftMembers = { name: 'A', floor: 1 };

for (const [what, [first, mine, theirs], expected] of [
  ['no unchanged member', [NAMED, NAMED, NAMED], []],
  ['nothing for a local change only', [NAMED, { ...NAMED, name: 'B' }, NAMED], []],
  ['a remote change only', [NAMED, NAMED, { ...NAMED, name: 'C' }], ['name']],
  ['a choice for a change on both sides', [NAMED, { name: 'B', floor: 1 }, { name: 'C', floor: 1 }], ['name ?']],
  ['no choice for equal changes on both sides', [NAMED, { name: 'C' }, { name: 'C', floor: 1 }], ['name']],
  ['a choice for a remote removal', [NAMED, { name: 'B', floor: 1 }, { floor: 1 }], ['name ?']],
  ['a choice for an addition on both sides', [{}, { floor: 1 }, { floor: 2 }], ['floor ?']],
  ['nothing for a remote null and a local absence', [{}, {}, { floor: null }], []],
  [
    'each property by itself',
    [{ properties: { a: 1, b: 1 } }, { properties: { a: 2, b: 1, c: 3 } }, { properties: { a: 3, b: 4 } }],
    ['properties.a ?', 'properties.b'],
  ],
  ['properties that are new on both sides', [{}, { properties: { a: 1 } }, { properties: { b: 1 } }], ['properties.b']],
  ['a shape as a whole', [{ region: [0, 0] }, { region: [1, 0] }, { region: [0, 1] }], ['region ?']],
] as const) {
  test(`memberChanges returns ${what}`, () => {
    const found = memberChanges({ first, mine, theirs }, new Map());
    assert.deepEqual(
      found.map((change) => change.path.join('.') + (isUndecided(change) ? ' ?' : '')),
      expected,
    );
  });
}

test('A choice stays valid until the member changes remotely again, regardless of local edits', () => {
  const first = { name: 'A' };
  const theirs = { name: 'C' };
  const [asked] = memberChanges({ first, mine: { name: 'B' }, theirs }, new Map()) as [RemoteChange];
  const answers = new Map([[keyOf(asked.path), asked]]);
  for (const [mine, whose, shown] of [
    ['B', 'mine', 'B'],
    ['C', 'theirs', 'B'],
    ['D', 'mine', 'D'],
  ] as const) {
    const [change] = memberChanges({ first, mine: { name: mine }, theirs }, answers);
    assert.deepEqual([change?.whose, change?.mine, change?.theirs], [whose, shown, 'C']);
  }
  const [again] = memberChanges({ first, mine: { name: 'B' }, theirs: { name: 'E' } }, answers);
  assert.equal(again?.whose, undefined);
});

test('merged takes remote values of members that are unchanged locally or chosen', () => {
  const three = {
    first: { name: 'A', floor: 1, properties: { a: 1, b: 1 } },
    mine: { name: 'B', floor: 1, properties: { a: 2, b: 1 } },
    theirs: { name: 'C', floor: 2, properties: { a: 1, b: 3, c: 4 } },
  };
  assert.deepEqual(merged(three, memberChanges(three, new Map())), {
    name: 'B',
    floor: 2,
    properties: { a: 2, b: 3, c: 4 },
  });
});

test('withMember sets nested members, and removes empty properties', () => {
  assert.deepEqual(withMember({ a: 1 }, ['properties', 'x'], 2), { a: 1, properties: { x: 2 } });
  assert.deepEqual(withMember({ properties: { x: 2 } }, ['properties', 'x'], undefined), {});
});

test('changesBetween returns the old and new values of changed members only', () => {
  const changes = changesBetween({ name: 'A', floor: 1, radius: 2 }, { name: 'B', floor: 1, extrusion: 3 });
  assert.deepEqual(changes, { name: { was: 'A', is: 'B' }, radius: { was: 2 }, extrusion: { is: 3 } });
});

/** Browser storage with a capacity of `room` characters. */
class Shelf {
  readonly #texts = new Map<string, string>();
  room = 5_000_000;

  get length(): number {
    return this.#texts.size;
  }

  key(index: number): string | null {
    return [...this.#texts.keys()][index] ?? null;
  }

  getItem(key: string): string | null {
    return this.#texts.get(key) ?? null;
  }

  setItem(key: string, text: string): void {
    if (text.length > this.room) throw new DOMException('QuotaExceededError');
    this.#texts.set(key, text);
  }

  removeItem(key: string): void {
    this.#texts.delete(key);
  }
}

const shelf = { now: new Shelf() };
Object.defineProperty(globalThis, 'localStorage', { get: () => shelf.now, configurable: true });

beforeEach(() => {
  shelf.now = new Shelf();
  session.value = undefined;
});

const DAY_MS = 86_400_000;
const draft = (atMs: number, is: unknown = 'B') => ({ atMs, changes: { name: { was: 'A', is } } });

test('A draft is stored per user until it is discarded, for a month at most', () => {
  const place = { kind: 'fences', id: 'f' } as const;
  const signedIn = (subject: string) => {
    session.value = { state: 'in', name: 'Kim', subject, signIn: () => undefined, signOut: () => undefined };
  };
  signedIn('issuer kim-1');
  assert.ok(saveDraft(place, draft(1_000)));
  assert.deepEqual(savedDraft(place, 2_000), draft(1_000));
  assert.equal(savedDraft(place, 31 * DAY_MS), undefined);
  signedIn('issuer kim-2');
  assert.equal(savedDraft(place, 2_000), undefined, 'another person of that name has none');
  deleteDrafts();
  signedIn('issuer kim-1');
  assert.deepEqual([...savedDraftIds('fences')], ['f']);
  saveDraft(place, { atMs: 3_000, changes: {} });
  assert.deepEqual([...savedDraftIds('fences')], []);
  saveDraft(place, draft(4_000));
  deleteDrafts();
  assert.equal(savedDraft(place, 4_000), undefined);
});

test('Only the newest drafts are stored, and a draft that exceeds the storage is dropped', () => {
  for (let i = 0; i < 60; i++) saveDraft({ kind: 'trackables', id: `t${i}` }, draft(i));
  const ids = savedDraftIds('trackables');
  assert.deepEqual([ids.size, ids.has('t9'), ids.has('t10')], [50, false, true]);
  assert.equal(saveDraft({ kind: 'zones', id: 'z' }, draft(100, 'x'.repeat(1_000_001))), false);
  shelf.now.room = 10;
  assert.equal(saveDraft({ kind: 'zones', id: 'z' }, draft(100)), false);
  assert.equal(savedDraft({ kind: 'zones', id: 'z' }, 100), undefined);
});
