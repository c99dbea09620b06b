import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { patched } from '../../src/api/json_patch.ts';
import { HubError } from '../../src/errors.ts';
import { unsupportedReason } from '../../src/model/json.ts';

const add = (path: string, value: unknown) => ({ op: 'add', path, value });
const remove = (path: string) => ({ op: 'remove', path });
const replace = (path: string, value: unknown) => ({ op: 'replace', path, value });
const move = (from: string, path: string) => ({ op: 'move', from, path });
const copy = (from: string, path: string) => ({ op: 'copy', from, path });
const test = (path: string, value: unknown) => ({ op: 'test', path, value });

const DONE: readonly (readonly [what: string, before: unknown, patch: unknown, after: unknown])[] = [
  ['nothing', { a: 1 }, [], { a: 1 }],
  ['one operation without an array', { a: 1 }, add('/b', 2), { a: 1, b: 2 }],
  ['adding a member', { a: 1 }, [add('/b', null)], { a: 1, b: null }],
  ['adding over a member', { a: 1 }, [add('/a', [2])], { a: [2] }],
  ['adding before an element', [1, 3], [add('/1', 2)], [1, 2, 3]],
  ['adding after the last element', [1, 2], [add('/2', 3)], [1, 2, 3]],
  ['adding at the end', { a: [] }, [add('/a/-', 1), add('/a/-', 2)], { a: [1, 2] }],
  ['adding an array as one element', [1], [add('/-', [2, 3])], [1, [2, 3]]],
  ['adding the whole', { a: 1 }, [add('', [])], []],
  ['removing a member', { a: 1, b: 2 }, [remove('/a')], { b: 2 }],
  ['removing an element', [1, 2, 3], [remove('/1')], [1, 3]],
  ['replacing a member in place', { a: 1, b: 2 }, [replace('/a', 3)], { a: 3, b: 2 }],
  ['replacing an element', [1, 2, 3], [replace('/1', 5)], [1, 5, 3]],
  ['replacing the whole', { a: 1 }, [replace('', 5)], 5],
  ['moving a member', { a: { x: 1 }, b: {} }, [move('/a/x', '/b/y')], { a: {}, b: { y: 1 } }],
  ['moving an element', [1, 2, 3, 4], [move('/0', '/2')], [2, 3, 1, 4]],
  ['moving a member onto itself', { a: 1 }, [move('/a', '/a')], { a: 1 }],
  ['moving a member up', { a: { b: { c: 1 } } }, [move('/a/b', '/a')], { a: { c: 1 } }],
  ['copying', { a: [1] }, [copy('/a', '/b'), add('/b/-', 2)], { a: [1], b: [1, 2] }],
  ['copying the whole into itself', { a: 1 }, [copy('', '/b')], { a: 1, b: { a: 1 } }],
  [
    'tests that hold',
    { a: [1, { b: null }] },
    [test('/a', [1, { b: null }]), test('/a/0', 1)],
    { a: [1, { b: null }] },
  ],
  ['a test of members in another order', { a: 1, b: 2 }, [test('', { b: 2, a: 1 })], { a: 1, b: 2 }],
  ['a test of zeros', { a: 0 }, [test('/a', -0)], { a: 0 }],
  ['names with slash and tilde', { 'a/b': 1, 'm~n': 2, '~1': 3 }, [remove('/a~1b'), remove('/m~0n')], { '~1': 3 }],
  ['a name of tilde and one', { '~1': 3 }, [replace('/~01', 4)], { '~1': 4 }],
  ['an empty name', { '': 1 }, [replace('/', 2)], { '': 2 }],
  ['a number as the name of a member', { 0: 'x' }, [replace('/0', 'y')], { 0: 'y' }],
  ['a minus as the name of a member', {}, [add('/-', 1)], { '-': 1 }],
  ['members that it does not know', { a: 1 }, [{ ...remove('/a'), comment: 'x' }], {}],
];

const REFUSED: readonly (readonly [what: string, before: unknown, patch: unknown, message: RegExp])[] = [
  ['no object', {}, 5, /^body: must be an object, found 5$/],
  ['no operation', {}, {}, /^op: is required, but is missing$/],
  ['an unknown operation', {}, [{ op: 'merge', path: '' }], /^patch\[0\]\.op: must be one of add, .*found "merge"$/],
  ['no path', {}, [test('', {}), { op: 'add' }], /^patch\[1\]\.path: is required, but is missing$/],
  ['no value', {}, { op: 'add', path: '/a' }, /^value: is required, but is missing$/],
  ['no from', {}, { op: 'move', path: '/a' }, /^from: is required, but is missing$/],
  ['a path that is no pointer', {}, add('a', 1), /^path: must be a JSON Pointer, found "a"$/],
  ['a broken escape', {}, add('/~2', 1), /^path: must be a JSON Pointer, found "\/~2"$/],
  ['a missing parent', { a: 1 }, add('/x/y', 1), /^path: must lead to a value, found none at "x"$/],
  ['a value as parent', { a: 1 }, add('/a/b', 1), /^path: must lead into an object or an array$/],
  ['nothing to remove', {}, [remove('/a')], /^patch\[0\]\.path: must lead to a value, found none at "a"$/],
  ['nothing to replace', {}, replace('/a', 1), /^path: must lead to a value, found none at "a"$/],
  ['nothing to move', {}, move('/a', '/b'), /^from: must lead to a value, found none at "a"$/],
  ['nothing to test', {}, test('/a', null), /^path: must lead to a value, found none at "a"$/],
  ['an element after the end', [1], add('/2', 1), /^path: must end with - or a number up to 1, found 2$/],
  ['an index with a leading zero', [1, 2], add('/01', 1), /^path: must end with - or a number up to 2, found 01$/],
  ['an index with a sign', [1, 2], remove('/-1'), /^path: must lead to a value, found none at "-1"$/],
  ['the end where there must be something', [1], remove('/-'), /^path: must lead to a value, found none at "-"$/],
  ['a name in an array', [1], add('/length', 1), /^path: must end with - or a number up to 1, found length$/],
  ['an inherited name', {}, remove('/constructor'), /^path: must lead to a value, found none at "constructor"$/],
  ['a move into itself', { a: { b: 1 } }, move('/a', '/a/b'), /^from: must not be moved into itself, found "\/a"$/],
  ['a test that does not hold', { a: 1 }, test('/a', '1'), /^value: must equal the value at "\/a", found 1$/],
  ['a test of another length', { a: [1] }, test('/a', [1, 2]), /^value: must equal/],
  ['a test of an array by an object', { a: [] }, test('/a', {}), /^value: must equal/],
  ['a removal that a later test relied on', { a: 1 }, [remove('/a'), test('/a', 1)], /^patch\[1\]\.path: must lead/],
  [
    'too many operations',
    {},
    Array(1001).fill(test('', {})),
    /^patch: must have at most 1,000 operations, found 1,001$/,
  ],
];

function refusal(before: unknown, patch: unknown): string {
  try {
    return `done: ${JSON.stringify(patched(before, patch)).slice(0, 100)}`;
  } catch (error) {
    assert.ok(error instanceof HubError, String(error));
    assert.equal(error.code, 'HUB_BAD_REQUEST');
    return error.message;
  }
}

describe('patched', () => {
  for (const [what, before, patch, after] of DONE) {
    it(`does ${what}`, () => {
      const kept = structuredClone(before);
      const found = patched(before, patch);
      assert.deepEqual(found, after);
      assert.equal(JSON.stringify(found), JSON.stringify(after), 'in another order');
      assert.deepEqual(before, kept, 'the value that was given is changed');
    });
  }

  for (const [what, before, patch, message] of REFUSED) {
    it(`rejects ${what}`, () => {
      const kept = structuredClone(before);
      assert.match(refusal(before, patch), message);
      assert.deepEqual(before, kept);
    });
  }

  it('treats __proto__ as an ordinary member', () => {
    const after = patched({}, add('/__proto__', { polluted: true })) as object;
    assert.equal(JSON.stringify(after), '{"__proto__":{"polluted":true}}');
    assert.equal('polluted' in after, false);
    assert.equal('polluted' in {}, false);
    assert.match(refusal({}, add('/__proto__/polluted', 1)), /^path: must lead to a value, found none at "__proto__"$/);
  });

  it('bounds repeated copies of copies', () => {
    const doubling = Array.from({ length: 60 }, (_, i) => copy('/a', `/a/${i === 0 ? '-' : '0'}`));
    assert.match(refusal({ a: ['x'.repeat(1000)] }, doubling), /^patch\[\d+\]\.value: must not add more/);
  });

  it('rejects a result nested deeper than a body may be', () => {
    const deepening = Array.from({ length: 300 }, () => move('', '/a')).flatMap(() => [copy('', '/a')]);
    assert.match(refusal({}, deepening), /^patch\[\d+\]\.path: must not lead deeper than 200 levels$/);
    const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
    assert.equal(unsupportedReason(patched({}, add('/a', nested(199)))), undefined);
    assert.match(refusal({}, add('/a', nested(200))), /deeper than 200 levels/);
  });

  it('reverts an add with remove, anywhere in any value', () => {
    const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify({ value })) as object);
    fc.assert(
      fc.property(json, fc.nat(), fc.nat(), fc.jsonValue(), (before, which, where, value) => {
        const places = placesIn(before, where);
        const path = places[which % places.length] as string;
        const added = patched(before, [add(path, value), test(path, value)]);
        assert.notDeepEqual(added, before);
        assert.deepEqual(patched(added, remove(path)), before);
      }),
      { numRuns: 500, seed: 5 },
    );
  });
});

/** Pointers to a new member in each object and array of a value. `where` selects the index in an array. */
function placesIn(value: unknown, where: number, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const name = Array.isArray(value) ? String(where % (value.length + 1)) : 'new ~0~1';
  const below = Object.entries(value).flatMap(([key, member]) => {
    return placesIn(member, where, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  });
  return [`${path}/${name}`, ...below];
}
