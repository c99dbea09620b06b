import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';

/** Creates a validator of AsyncAPI 3.0 documents, based on the official schema. It returns the errors, or undefined. */
export function asyncApiChecker(): (document: unknown) => string | undefined {
  const address = new URL(import.meta.resolve('@asyncapi/specs/schemas/3.0.0.json'));
  // The official schema includes the schema of draft 7, which it refers to.
  const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false });
  formats.default(ajv);
  const validate = ajv.compile(JSON.parse(readFileSync(address, 'utf8')) as object);
  return (document) => (validate(document) ? undefined : JSON.stringify(validate.errors));
}

/** Members of a channel that tests check. */
interface Channel {
  readonly address: string;
  readonly servers: readonly { readonly $ref: string }[];
}

interface Operation {
  readonly action: 'send' | 'receive';
  readonly channel: { readonly $ref: string };
  readonly bindings?: { readonly mqtt?: Readonly<Record<string, unknown>> };
}

/** Members of an AsyncAPI document that describe channels and operations. */
export interface AsyncApi {
  readonly servers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly channels: Readonly<Record<string, Channel>>;
  readonly operations: Readonly<Record<string, Operation>>;
}

/** A topic of the broker, and whether the hub publishes or subscribes there. */
export interface DocumentedTopic {
  readonly key: string;
  readonly address: string;
  readonly actions: ReadonlySet<string>;
  /** Whether a topic is one of these. */
  fits(topic: string): boolean;
}

/** MQTT topics of a document. */
export function topicsIn({ channels, operations }: AsyncApi): readonly DocumentedTopic[] {
  return Object.entries(channels)
    .filter(([, { servers }]) => servers.some(({ $ref }) => $ref === '#/servers/broker'))
    .map(([key, { address }]) => {
      const uses = Object.values(operations).filter(({ channel }) => channel.$ref === `#/channels/${key}`);
      // A path in the unified namespace may have any number of levels.
      const pattern = address
        .replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
        .replaceAll('{uns}', '.+')
        .replaceAll(/\{\w+\}/g, '[^/]+');
      const regex = new RegExp(`^${pattern}$`);
      return { key, address, actions: new Set(uses.map(({ action }) => action)), fits: (topic) => regex.test(topic) };
    });
}
