import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';

/** A checker of AsyncAPI 3.0 documents, by the schema of their makers: what is wrong, or undefined. */
export function asyncApiChecker(): (document: unknown) => string | undefined {
  const address = new URL(import.meta.resolve('@asyncapi/specs/schemas/3.0.0.json'));
  // The schema brings draft 7, which it refers to, along.
  const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false });
  formats.default(ajv);
  const validate = ajv.compile(JSON.parse(readFileSync(address, 'utf8')) as object);
  return (document) => (validate(document) ? undefined : JSON.stringify(validate.errors));
}

/** A channel of the document, as far as tests look at it. */
interface Channel {
  readonly address: string;
  readonly servers: readonly { readonly $ref: string }[];
}

interface Operation {
  readonly action: 'send' | 'receive';
  readonly channel: { readonly $ref: string };
  readonly bindings?: { readonly mqtt?: Readonly<Record<string, unknown>> };
}

/** The part of an AsyncAPI document that says where what is sent. */
export interface AsyncApi {
  readonly servers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly channels: Readonly<Record<string, Channel>>;
  readonly operations: Readonly<Record<string, Operation>>;
}

/** A topic of the broker, with what the hub does there. */
export interface DocumentedTopic {
  readonly key: string;
  readonly address: string;
  readonly actions: ReadonlySet<string>;
  /** Whether a topic is one of these. */
  fits(topic: string): boolean;
}

/** The MQTT topics of a document. */
export function topicsIn({ channels, operations }: AsyncApi): readonly DocumentedTopic[] {
  return Object.entries(channels)
    .filter(([, { servers }]) => servers.some(({ $ref }) => $ref === '#/servers/broker'))
    .map(([key, { address }]) => {
      const uses = Object.values(operations).filter(({ channel }) => channel.$ref === `#/channels/${key}`);
      // A place in the unified namespace has levels as it likes.
      const pattern = address
        .replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
        .replaceAll('{uns}', '.+')
        .replaceAll(/\{\w+\}/g, '[^/]+');
      const regex = new RegExp(`^${pattern}$`);
      return { key, address, actions: new Set(uses.map(({ action }) => action)), fits: (topic) => regex.test(topic) };
    });
}
