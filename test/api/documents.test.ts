import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { operationId } from '../../src/api/docs/names.ts';
import { openApiDocument } from '../../src/api/docs/open_api.ts';
import { type Method, type ApiRoute, route } from '../../src/api/route.ts';
import { VIEW_QUERY } from '../../src/api/view.ts';
import { isCrs } from '../../src/core/geo/crs.ts';
import { checker } from '../../src/model/check.ts';
import { Components } from '../../src/model/components.ts';
import { ArrayOf, Choice, documented, IdArray } from '../../src/model/schema.ts';

const OPTIONS = {
  version: 'v2',
  versionInfo: { hub_version: '1.2.3', vendor: 'test', api_version: '2.0.0', hub_id: 'id', hub_name: 'hub' },
  errorTypes: 'by_version',
  errorTypePrefix: 'org.test',
} as const;

const Tool = Type.Object({ id: Type.String() }, { title: 'Tool', description: 'A tool.' });

function row(method: Method, path: string, more: Partial<Parameters<typeof route>[0]> = {}): ApiRoute {
  const handle = () => ({ status: 204 });
  const replies = { 200: { description: 'Some.', schema: Tool } };
  return route({ method, path, summary: 'Test', permission: { operation: 'READ' }, replies, handle, ...more });
}

function operation(made: ApiRoute, version: 'v1' | 'v2' = 'v2') {
  const document = openApiDocument([made], { ...OPTIONS, version });
  const [operations = {}] = Object.values(document['paths'] as Record<string, Record<string, never>>);
  const [found] = Object.values(operations);
  return found as unknown as {
    readonly parameters: readonly object[];
    readonly requestBody: object;
    readonly responses: Readonly<Record<string, { description?: string; content?: object; $ref?: string }>>;
  };
}

test('operationId is the one of the omlox Hub API, or else derived from method and path', () => {
  const names = [
    ['GET', '/fences/:fence_id/motions', 'getTrackableMotionsInsideFence'],
    ['PATCH', '/fences/:fence_id', 'patchFenceById'],
    ['GET', '/tools', 'getTools'],
    ['GET', '/tools/:tool_id/handles', 'getToolHandles'],
    ['GET', '/tools/of/:year/:month', 'getToolsOfYearMonth'],
  ] as const;
  for (const [method, path, name] of names) assert.equal(operationId({ method, path }), name);
});

test('openApiDocument rejects two routes with the same operationId', () => {
  assert.throws(() => openApiDocument([row('GET', '/a-b'), row('GET', '/a/b')], OPTIONS), /getAB/);
});

test('openApiDocument includes the notes of a route next to its schemas', () => {
  const notes = {
    path: { year: 'Four digits.' },
    refusals: { 400: 'No such year.', 409: 'In use.' },
  };
  const { parameters, responses, requestBody } = operation(
    row('PUT', '/months/:year', { body: Tool, text: true, notes }),
  );
  assert.deepEqual(parameters, [{ $ref: '#/components/parameters/path_year' }]);
  assert.deepEqual(Object.keys(responses), [
    '200',
    '400',
    '401',
    '403',
    '404',
    '405',
    '409',
    '413',
    '415',
    '429',
    '431',
    '503',
  ]);
  assert.deepEqual(responses['400'], { $ref: '#/components/responses/BadRequest', description: 'No such year.' });
  assert.equal(responses['409']?.description, 'In use.');
  const $ref = '#/components/schemas/Tool';
  const content = {
    'application/json': { schema: { $ref } },
    'text/plain': { schema: { type: 'string', minLength: 1 } },
  };
  assert.deepEqual(requestBody, { required: true, content });
});

test('openApiDocument includes replies of v1, and GeoJSON where it is supported', () => {
  const content = (made: ApiRoute, version: 'v1' | 'v2') => JSON.stringify(operation(made, version).responses['200']);
  const replies = { 200: { description: 'Some.', schema: ArrayOf(Tool), v1: IdArray } };
  assert.match(content(row('GET', '/a', { replies }), 'v1'), /IdArray/);
  assert.match(content(row('GET', '/a', { replies }), 'v2'), /Tool/);
  const query = Type.Object({ geojson: Type.Optional(Type.Boolean()) });
  assert.match(content(row('GET', '/a', { replies, query }), 'v2'), /ToolArrayOrFeatureCollection/);
  assert.match(content(row('GET', '/a', { query }), 'v2'), /ToolOrFeature"/);
});

test('Components contains a schema with a title once, and refers to it', () => {
  const components = new Components();
  const shown = components.show(Type.Array(Type.Union([Tool, Type.Null()])));
  assert.deepEqual(shown, {
    type: 'array',
    items: { anyOf: [{ $ref: '#/components/schemas/Tool' }, { type: 'null' }] },
  });
  const properties = { id: { type: 'string' } };
  const expected = { type: 'object', title: 'Tool', description: 'A tool.', properties, required: ['id'] };
  assert.deepEqual(components.schemas, { Tool: expected });
});

test('Components rejects two schemas with the same title', () => {
  const components = new Components();
  components.show(Tool);
  assert.throws(() => components.show(Type.Object({}, { title: 'Tool' })), /name a schema Tool/);
});

test('Components includes null in the type of a simple nullable schema', () => {
  const components = new Components();
  const maybe = Type.Union([Type.Number({ minimum: 0, description: 'Meters.' }), Type.Null()]);
  assert.deepEqual(components.show(maybe), {
    type: ['number', 'null'],
    format: 'double',
    minimum: 0,
    description: 'Meters.',
  });
  const word = Type.Union([Type.Enum(['a', 'b']), Type.Null()]);
  assert.deepEqual(components.show(word), { type: ['string', 'null'], enum: ['a', 'b', null] });
  const literal = Type.Union([Type.Literal('a'), Type.Null()]);
  assert.deepEqual(components.show(literal), { type: ['string', 'null'], enum: ['a', null] });
});

test('Components for generators distinguishes the shapes of a union, and declares a constant as an enum', () => {
  const components = new Components({ forGenerators: true });
  const shape = (title: string) => Type.Object({ type: Type.Literal(title) }, { title });
  const about = { title: 'AOrB', description: 'One of two.', discriminatedBy: 'type' };
  components.show(Choice([shape('A'), shape('B')], about));
  const refs = ['A', 'B'].map((title) => ({ $ref: `#/components/schemas/${title}` }));
  const { A, AOrB } = components.schemas;
  assert.deepEqual(A?.['properties'], { type: { type: 'string', enum: ['A'] } });
  assert.deepEqual(AOrB, {
    title: 'AOrB',
    description: 'One of two.',
    oneOf: refs,
    discriminator: { propertyName: 'type', mapping: { A: refs[0]?.$ref, B: refs[1]?.$ref } },
  });
});

test('Components describes an object with arbitrary members, and the replacement of a schema', () => {
  const components = new Components({ replacementOf: (schema) => (schema === Tool ? Type.Boolean() : schema) });
  const record = Type.Record(Type.String(), Type.Unknown());
  assert.deepEqual(components.show(record), { type: 'object', additionalProperties: true });
  assert.deepEqual(components.show(Type.Array(Tool)), { type: 'array', items: { type: 'boolean' } });
});

test('Components leaves data that looks like a schema unchanged', () => {
  const examples = [{ properties: { title: 'no schema' }, items: [1] }];
  const schema = Type.Object({ properties: Type.String() }, { examples });
  const shown = new Components().show(schema);
  assert.deepEqual(shown['examples'], examples);
  assert.deepEqual(shown['properties'], { properties: { type: 'string' } });
});

test('Components includes documentation keywords, which values need not match', () => {
  const schema = Type.Union([
    Type.String({ description: 'A time.', ...documented({ format: 'date-time' }) }),
    Type.Null(),
  ]);
  const shown = { type: ['string', 'null'], description: 'A time.', format: 'date-time' };
  assert.deepEqual(new Components().show(schema), shown);
  assert.ok(checker(schema).fits('no time'));
});

test('The pattern of the parameter crs matches the values that isCrs accepts', () => {
  const { pattern } = new Components().show(VIEW_QUERY.crs) as { readonly pattern: string };
  const documented = new RegExp(pattern, 'u');
  const texts = ['local', 'Local', 'EPSG:4326', 'EPSG:4327', 'epsg:4326', '', ' local', 'EPSG:3267', 'EPSG:326611'];
  for (let code = 32_590; code < 32_770; code++) texts.push(`EPSG:${code}`);
  for (const text of texts) assert.equal(documented.test(text), isCrs(text), text);
});
