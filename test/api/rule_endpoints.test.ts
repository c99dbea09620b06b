import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LocatingRules } from '../../src/entities/locating_rules.ts';
import { openApi } from './open_api.ts';

const RULES = [
  { expression: "type = 'uwb' AND timestamp_diff < 10000", priority: 10 },
  { expression: 'accuracy < 10', priority: 9 },
];

describe('/trackables/rules/locating', () => {
  it('is empty at first, replaced by PUT, and sent to the shards', async () => {
    const { send, ruled } = openApi();
    assert.deepEqual((await send('GET', '/v2/trackables/rules/locating')).body, []);
    const put = await send(
      'PUT',
      '/v1/trackables/rules/locating',
      RULES.map((rule) => ({ ...rule, note: 'dropped' })),
    );
    assert.deepEqual([put.status, put.body], [200, RULES]);
    assert.deepEqual((await send('GET', '/deephub/v2/trackables/rules/locating/')).body, RULES);
    assert.equal((await send('PUT', '/v2/trackables/rules/locating', [])).status, 200);
    assert.deepEqual(ruled, [RULES, []]);
  });

  const refused: readonly (readonly [unknown, RegExp])[] = [
    [null, /^rules: must be an array, found null$/],
    [RULES[0], /^rules: must be an array/],
    [[RULES[0], { priority: 1 }], /^rules\[1\]\.expression: is required, but is missing$/],
    [[{ expression: 'accuracy < 1' }], /^rules\[0\]\.priority: is required, but is missing$/],
    [[{ expression: 'accuracy < 1', priority: 1.5 }], /^rules\[0\]\.priority: must be an integer, found 1.5$/],
    [[{ expression: 'accuracy < 1', priority: -1 }], /^rules\[0\]\.priority: must be >= 0, found -1$/],
    [[{ expression: 'accuracy < 1', priority: 1e300 }], /^rules\[0\]\.priority: /],
    [[RULES[0], { expression: 'accuracy <', priority: 1 }], /^rules\[1\]\.expression: expected a value at column/],
    [[{ expression: '', priority: 1 }], /^rules\[0\]\.expression: expected a value at column 1/],
  ];
  for (const [body, message] of refused) {
    it(`answers 400 to ${JSON.stringify(body)} and keeps the rules`, async () => {
      const { send, ruled } = openApi();
      await send('PUT', '/v2/trackables/rules/locating', RULES);
      const reply = await send('PUT', '/v2/trackables/rules/locating', body);
      assert.equal(reply.status, 400);
      assert.match(reply.body.message, message);
      assert.deepEqual((await send('GET', '/v2/trackables/rules/locating')).body, RULES);
      assert.equal(ruled.length, 1);
    });
  }

  it('keeps the rules if the store rejects new ones', async () => {
    const committed: unknown[] = [];
    const rules = new LocatingRules({
      commit: () => Promise.reject<void>(errorWith('HUB_UNAVAILABLE', 'Cannot keep data')),
      committed: (changed) => void committed.push(changed),
    });
    rules.load(RULES);
    const { send } = openApi({ rules });
    assert.equal((await send('PUT', '/v2/trackables/rules/locating', [])).status, 503);
    assert.deepEqual((await send('GET', '/v2/trackables/rules/locating')).body, RULES);
    assert.deepEqual(committed, [RULES]);
  });
});

const VALID: readonly string[] = [
  'accuracy < 10',
  '  accuracy < 10\n',
  "type = 'uwb' AND timestamp_diff() < 10000",
  '"accuracy < 10"',
  ' "type = \'uwb\'" ',
  'type = "uwb"',
  '"type" = "uwb"',
  '"type = \\"uwb\\""',
  '{"expression":"type = \\"uwb\\""}',
  '"source = \'\\u00fcber\'"',
  '{"expression":"floor IS NOT NULL"}',
  '\n{ "priority": 3, "expression": "1" }',
  '5',
];

const INVALID: readonly (readonly [string, RegExp])[] = [
  ['', /^expression: expected a value at column 1, found nothing/],
  ['   ', /^expression: expected a value/],
  ['null', /^expression: expected a value at column 1, found "NULL"$/],
  ['colour = 1', /^expression: expected one of timestamp_diff, .*found/],
  ['accuracy < 10 AND', /^expression: expected a value at column/],
  ['accuracy < 10"', /^expression: /],
  ['"accuracy < "', /^expression: expected a value/],
  ['"accuracy < 10', /^expression: expected a closing quote for the string at column 1, found the end$/],
  ['"a" "b"', /^expression: expected AND, OR or the end at column 5, found "b"$/],
  ['{"expression":5}', /^expression: must be a string, found 5$/],
  ['{}', /^expression: must be a string, found nothing$/],
  ['{accuracy < 10}', /^body: must be an expression or its JSON, found /],
  ['["accuracy < 10"]', /^expression: /],
  [`accuracy < ${'('.repeat(5000)}`, /^expression: must have at most 4,096 characters/],
];

describe('POST /validator/rules/locating', () => {
  for (const body of VALID) {
    it(`answers 204 to ${JSON.stringify(body)}`, async () => {
      const { status, body: reply } = await openApi().send('POST', '/v2/validator/rules/locating', body);
      assert.deepEqual([status, reply], [204, undefined]);
    });
  }

  for (const [body, message] of INVALID) {
    it(`answers 400 to ${JSON.stringify(body).slice(0, 60)}`, async () => {
      const { status, body: error } = await openApi().send('POST', '/v1/validator/rules/locating', body);
      assert.deepEqual([status, error.type, error.code], [400, 'bad request', 400]);
      assert.match(error.message, message);
    });
  }

  it('answers 400 to bytes that are not UTF-8', async () => {
    const bytes = new Uint8Array([0x61, 0xff]);
    const { status, body } = await openApi().sendBytes('POST', '/v2/validator/rules/locating', bytes);
    assert.deepEqual([status, body.message], [400, 'body: must be text, found bytes that are not UTF-8']);
  });
});
