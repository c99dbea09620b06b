import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { type Document, DocumentSchemas, pointer } from './json_schema.ts';
import { namesIn } from './named.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly example?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}
interface OpenApi extends Document {
  readonly openapi: string;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}
interface Found {
  readonly at: string;
  readonly schema: Schema;
}

const NEW = 'openapi.json';
const OLD = 'openapi-3.0.json';
/** Accepts plain text as well, which no component describes. */
const TEXT = 'paths./validator/rules/locating.post.requestBody.content.text/plain.schema';

describe('the OpenAPI documents for code generators', () => {
  let hub: TestHub;
  before(async () => {
    hub = await openTestHub();
  });
  after(() => hub.close());

  const read = async (version: string, name: string): Promise<OpenApi> => {
    const { status, body } = await hub.get(`${hub.origin}/hub/${version}/${name}`);
    assert.equal(status, 200);
    return body as unknown as OpenApi;
  };

  for (const version of ['v1', 'v2']) {
    it(`are valid OpenAPI 3.0 and 3.1 with the same names in ${version}`, async () => {
      const old = await read(version, OLD);
      assert.equal(old.openapi, '3.0.3');
      const { valid, errors } = await new Validator().validate(structuredClone(old) as never);
      assert.ok(valid, JSON.stringify(errors));
      assert.deepEqual(namesIn(old), namesIn(await read(version, NEW)));
    });

    it(`have examples that match the schemas of 3.0 in ${version}`, async () => {
      const old = await read(version, OLD);
      const schemas = new DocumentSchemas(old, 'OpenAPI 3.0');
      const examples = Object.entries(old.components.schemas).filter(([, { example }]) => example !== undefined);
      assert.ok(examples.length > 10);
      for (const [title, { example }] of examples) {
        assert.equal(schemas.at(pointer('components', 'schemas', title))(example), undefined, title);
      }
    });

    for (const name of [NEW, OLD]) {
      it(`name every object, list, choice and enumeration in ${version}/${name}`, async () => {
        const inline = innerSchemas(await read(version, name)).filter(({ schema }) => isNamingWorth(schema));
        assert.deepEqual(inline, []);
      });

      it(`specify the format of every number in ${version}/${name}`, async () => {
        const document = await read(version, name);
        const named = Object.entries(document.components.schemas).map(([at, schema]) => ({ at, schema }));
        const numbers = [...named, ...innerSchemas(document)].filter(({ schema: { type = '', enum: words } }) => {
          return words === undefined && [type].flat().some((each) => each === 'number' || each === 'integer');
        });
        assert.ok(numbers.length > 50);
        const formats = new Set(numbers.map(({ schema: { type = '', format } }) => `${[type].flat()[0]} ${format}`));
        assert.deepEqual([...formats].sort(), ['integer int64', 'number double']);
      });
    }
  }
});

/** Whether a schema needs a name. A generator would otherwise derive one from its path. */
function isNamingWorth(schema: Schema): boolean {
  const { type = '', properties, enum: words = [], anyOf = [], oneOf = [], allOf = [] } = schema;
  if (properties !== undefined || type === 'object') return true;
  // A single value only distinguishes an object from others.
  if (words.filter((word) => word !== null).length > 1) return true;
  const others = [...anyOf, ...oneOf].filter((other) => other.type !== 'null');
  const isMaybe = others.length + allOf.length === 1 && (others.length === 0 || anyOf.length === 2);
  return others.length + allOf.length > 0 && !isMaybe;
}

/** All inline schemas of a document, with their paths. A list of names counts as its elements. */
function innerSchemas(document: OpenApi): Found[] {
  const { schemas, ...shared } = document.components;
  const inTree = (node: unknown, at: string): Found[] => {
    if (typeof node !== 'object' || node === null) return [];
    return Object.entries(node).flatMap(([key, value]) => {
      if (key === 'examples') return [];
      const inner = `${at}.${key}`;
      if (key !== 'schema') return inTree(value, inner);
      const isBody = !at.includes('.parameters.') && !at.includes('.headers.');
      const isNameless = isBody && value.$ref === undefined && inner !== TEXT;
      if (isNameless) return [{ at: inner, schema: { ...value, type: 'object' } }];
      return [{ at: inner, schema: value }, ...within(value, inner)];
    });
  };
  return [
    ...Object.entries(schemas).flatMap(([title, schema]) => within(schema, title)),
    ...inTree(document['paths'], 'paths'),
    ...inTree(shared, 'components'),
  ];
}

function within(schema: Schema, at: string): Found[] {
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [], allOf = [] } = schema;
  const inner: [string, Schema][] = Object.entries(properties);
  if (items !== undefined) inner.push(['items', items]);
  if (typeof additionalProperties === 'object') inner.push(['additionalProperties', additionalProperties]);
  for (const [i, choice] of [...anyOf, ...oneOf, ...allOf].entries()) inner.push([`choice ${i}`, choice]);
  return inner.flatMap(([name, value]) => {
    const place = `${at}.${name}`;
    return [{ at: place, schema: value }, ...within(value, place)];
  });
}
