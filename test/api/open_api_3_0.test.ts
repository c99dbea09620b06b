import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApi30 } from '../../src/api/docs/open_api_3_0.ts';

const $ref = '#/components/schemas/Tool';

/** Schemas of 3.1 and their equivalents in 3.0. */
const SCHEMAS: readonly (readonly [title: string, in31: object, in30: object])[] = [
  ['a type', { type: 'string', minLength: 1 }, { type: 'string', minLength: 1 }],
  ['a type or null', { type: ['number', 'null'], minimum: 0 }, { type: 'number', nullable: true, minimum: 0 }],
  [
    'words or null',
    { type: ['string', 'null'], enum: ['a', null] },
    { type: 'string', nullable: true, enum: ['a', null] },
  ],
  ['a reference', { $ref }, { $ref }],
  ['a reference or null', { anyOf: [{ $ref }, { type: 'null' }] }, { nullable: true, allOf: [{ $ref }] }],
  [
    'a described reference or null',
    { description: 'A tool.', anyOf: [{ $ref }, { type: 'null' }] },
    { description: 'A tool.', nullable: true, allOf: [{ $ref }] },
  ],
  [
    'a list or null',
    { anyOf: [{ type: 'array', items: { const: 1 } }, { type: 'null' }] },
    { type: 'array', items: { enum: [1] }, nullable: true },
  ],
  [
    'one of several or null',
    { anyOf: [{ $ref }, { type: 'string' }, { type: 'null' }] },
    { nullable: true, anyOf: [{ $ref }, { type: 'string' }] },
  ],
  ['a constant', { const: 'a', type: 'string' }, { enum: ['a'], type: 'string' }],
  [
    'bounds',
    { exclusiveMinimum: 0, exclusiveMaximum: 9 },
    { minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: true },
  ],
  ['examples', { type: 'string', examples: ['a', 'b'] }, { type: 'string', example: 'a' }],
  ['an example that looks like a schema', { examples: [{ const: 1 }] }, { example: { const: 1 } }],
  [
    'what is within',
    { type: 'object', properties: { const: { type: ['string', 'null'] } }, additionalProperties: { const: 1 } },
    { type: 'object', properties: { const: { type: 'string', nullable: true } }, additionalProperties: { enum: [1] } },
  ],
  ['a choice', { oneOf: [{ const: 1 }, { $ref }] }, { oneOf: [{ enum: [1] }, { $ref }] }],
];

function documentOf(schema: object, paths: object = {}) {
  return {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1', summary: 'In short', description: 'At length.' },
    paths,
    components: {
      schemas: { Tool: schema },
      responses: { NotFound: { description: 'Nothing.', content: { 'application/json': { schema: { const: 1 } } } } },
    },
  };
}

for (const [title, in31, in30] of SCHEMAS) {
  test(`openApi30 writes ${title}`, () => {
    const { components } = openApi30(documentOf(in31)) as { components: { schemas: { Tool: object } } };
    assert.deepEqual(components.schemas.Tool, in30);
  });
}

test('openApi30 writes the schemas of operations, and replaces a described reference with its target', () => {
  const example = { schema: { const: 1 } };
  const operation = {
    parameters: [{ name: 'a', in: 'query', schema: { const: 1 } }],
    responses: {
      404: { $ref: '#/components/responses/NotFound' },
      400: { $ref: '#/components/responses/NotFound', description: 'Another.', examples: example },
    },
  };
  const { openapi, info, paths } = openApi30(documentOf({}, { '/a': { get: operation } })) as {
    readonly openapi: string;
    readonly info: object;
    readonly paths: { readonly '/a': { readonly get: object } };
  };
  assert.equal(openapi, '3.0.3');
  assert.deepEqual(info, { title: 'Test', version: '1', description: 'In short.\n\nAt length.' });
  const content = { 'application/json': { schema: { enum: [1] } } };
  assert.deepEqual(paths['/a'].get, {
    parameters: [{ name: 'a', in: 'query', schema: { enum: [1] } }],
    responses: {
      404: { $ref: '#/components/responses/NotFound' },
      400: { description: 'Another.', content, examples: example },
    },
  });
});

test('openApi30 rejects schemas that it cannot express', () => {
  for (const schema of [{ prefixItems: [] }, { type: ['string', 'number'] }, { items: true, if: {} }]) {
    assert.throws(() => openApi30(documentOf(schema)), /^Error: Cannot write in OpenAPI 3\.0/);
  }
});
