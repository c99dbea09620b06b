import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { partsOf, withoutMember, withProperty } from '../../../src/core/location/member_text.ts';

test('members are divided at their properties, whatever these contain', () => {
  fc.assert(
    fc.property(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (source, properties, isLast) => {
      const [before, json] = [`"source":${JSON.stringify(source)},"accuracy":1`, JSON.stringify(properties)];
      const after = isLast ? '' : ',"floor":2';
      assert.deepEqual(partsOf(`${before},"properties":${json}${after}`), { before, properties: json, after });
      assert.deepEqual(partsOf(before + after), { before: before + after, properties: '', after: '' });
      const flagged = JSON.parse(withProperty(json, 'hub.outlier', true));
      assert.deepEqual(flagged, JSON.parse(JSON.stringify({ ...properties, 'hub.outlier': true })));
    }),
  );
});

test('a property of the same name is replaced', () => {
  assert.equal(withProperty('{"hub.outlier":"no","a":1}', 'hub.outlier', true), '{"hub.outlier":true,"a":1}');
  assert.equal(withProperty('', 'hub.outlier', true), '{"hub.outlier":true}');
  assert.equal(withProperty('{ }', 'hub.outlier', true), '{"hub.outlier":true}');
});

test('a member is removed only by its own name, and not from within a string', () => {
  const text = '"source":",\\"floor\\":9","floor":2,"speed":1.5,"elevation_ref":"floor"';
  assert.equal(withoutMember(text, 'floor'), '"source":",\\"floor\\":9","speed":1.5,"elevation_ref":"floor"');
  assert.equal(withoutMember(text, 'elevation_ref'), '"source":",\\"floor\\":9","floor":2,"speed":1.5');
  assert.equal(withoutMember(text, 'course'), text);
});
