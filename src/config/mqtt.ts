import Type, { type Static } from 'typebox';
import { PUBLICATION_NAMES, type Publication, SOURCE_TOPICS, TOPIC_STYLES } from '../model/mqtt.ts';
import { show } from '../model/error_value_text.ts';
import type { PartProblem } from './part_problems.ts';
import { didYouMean } from './suggest.ts';
import { Word } from './word.ts';

const Text = (options: { description: string; secret?: boolean }) =>
  Type.Union([Type.String({ minLength: 1 }), Type.Null()], { default: null, ...options });

/**
 * An element of mqtt_publish: the name of a publication, optionally with the minimum milliseconds between two messages
 * of one object.
 */
const Published = Type.Unsafe<Publication | { readonly topic: Publication; readonly min_interval?: number }>({});

/** Settings of the hub as a client of an MQTT broker, see docs/mqtt.md. Settings of DeepHub have the same names. */
export const MqttProperties = {
  mqtt_address: Text({ description: 'Host name or address of the MQTT broker. null: MQTT is off.' }),
  mqtt_port: Type.Integer({ minimum: 1, maximum: 65535, default: 1883, description: 'Port of the broker.' }),
  mqtt_protocol: Word(['mqtt', 'ws'], {
    default: 'mqtt',
    description: 'Transport to the broker: mqtt (TCP) or ws (WebSocket).',
  }),
  mqtt_path: Type.String({
    pattern: '^/[^\\s?#]*$',
    default: '/mqtt',
    description: 'Path at the broker, used with mqtt_protocol ws.',
  }),
  mqtt_user: Text({ description: 'User name for signing in to the broker.' }),
  mqtt_password: Text({ secret: true, description: 'Password of that user.' }),
  mqtt_client_id: Text({
    description: 'MQTT client id, which identifies the session. null: generated once, and stored with the data.',
  }),
  mqtt_tls: Type.Boolean({ default: false, description: 'Whether the connection to the broker is encrypted.' }),
  mqtt_ca_cert: Text({ description: 'PEM file with the certificates that verify the broker.' }),
  mqtt_verify_peer: Type.Boolean({
    default: true,
    description:
      "Whether the broker's certificate is verified. Without verification, others can impersonate the broker.",
  }),
  mqtt_client_cert: Text({ description: 'PEM file with the client certificate of the hub for the broker.' }),
  mqtt_client_key: Text({ description: 'PEM file with the private key of that certificate.' }),
  mqtt_topic_style: Word(TOPIC_STYLES, {
    default: 'slash',
    description: 'Style of topics: slash, as in omlox; plain, as in DeepHub; both.',
  }),
  mqtt_publish: Type.Array(Published, {
    default: [...PUBLICATION_NAMES],
    description:
      'Published topics: names, or {topic, min_interval} with the milliseconds between two messages of one object.',
  }),
  mqtt_max_queue: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 64,
    description:
      'Maximum size of the queue for the broker, in MiB. Beyond it the oldest messages are dropped and counted.',
  }),
  mqtt_subscriptions: Type.Array(Type.String({ minLength: 1 }), {
    maxItems: 16,
    default: [],
    description:
      'Subscribed topics of sources, below omlox/json/. In a cluster one hub subscribes to each. Empty: all.',
  }),
  mqtt_share: Text({
    description: 'Name of a shared subscription, for several hubs without a cluster. null: none.',
  }),
  mqtt_home_assistant: Type.Boolean({
    default: false,
    description: 'Whether Home Assistant discovers trackables and fences at the broker.',
  }),
  mqtt_home_assistant_prefix: Type.String({
    minLength: 1,
    maxLength: 200,
    default: 'homeassistant',
    description: 'Discovery prefix of Home Assistant.',
  }),
  uns_root: Text({
    description: 'First levels of the unified namespace. null: positions of trackables are not published in one.',
  }),
  uns_max_levels: Type.Integer({
    minimum: 1,
    maximum: 200,
    default: 32,
    description: 'Maximum levels of the path of a trackable in the unified namespace.',
  }),
  uns_max_bytes: Type.Integer({
    minimum: 32,
    maximum: 65_535,
    default: 1024,
    description: 'Maximum bytes of a topic of the unified namespace.',
  }),
};

/** A requested publication. */
export interface PublicationSetting {
  readonly publication: Publication;
  readonly minIntervalMs: number;
}

/** Normalizes mqtt_publish. */
export function publicationsOf(values: readonly Static<typeof Published>[]): readonly PublicationSetting[] {
  return values.map((value) => {
    if (typeof value === 'string') return { publication: value, minIntervalMs: 0 };
    return { publication: value.topic, minIntervalMs: value.min_interval ?? 0 };
  });
}

const MEMBERS = ['topic', 'min_interval'];
const INTERVAL_MAX_MS = 86_400_000;

/** Problems of the value of mqtt_publish. */
export function publishProblems(value: unknown): readonly PartProblem[] {
  if (!Array.isArray(value)) {
    return [{ path: [], text: `must be a list of names or {topic, min_interval}, found ${show(value)}` }];
  }
  const seen = new Set<unknown>();
  return value.flatMap((each: unknown, index): readonly PartProblem[] => {
    const isObject = typeof each === 'object' && each !== null && !Array.isArray(each);
    const values = isObject ? (each as Readonly<Record<string, unknown>>) : { topic: each };
    const at = isObject ? [index, 'topic'] : [index];
    const problems: PartProblem[] = Object.keys(values)
      .filter((name) => !MEMBERS.includes(name))
      .map((name) => ({ path: [index, name], text: `is no setting of a publication${didYouMean(name, MEMBERS)}` }));
    const { topic, min_interval: interval } = values;
    if (topic === undefined) problems.push({ path: at, text: 'is required, but is missing' });
    else if (!PUBLICATION_NAMES.some((name) => name === topic)) {
      const near = typeof topic === 'string' ? didYouMean(topic, PUBLICATION_NAMES) : '';
      problems.push({ path: at, text: `must be one of ${PUBLICATION_NAMES.join(', ')}, found ${show(topic)}${near}` });
    } else if (seen.has(topic)) problems.push({ path: at, text: `must be there once, found ${show(topic)} again` });
    seen.add(topic);
    if (interval !== undefined && !isInterval(interval)) {
      const text = `must be an integer from 0 to ${INTERVAL_MAX_MS}, found ${show(interval)}`;
      problems.push({ path: [index, 'min_interval'], text });
    }
    return problems;
  });
}

function isInterval(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= INTERVAL_MAX_MS;
}

/** Problems of combinations of MQTT settings. */
export function mqttProblems(values: ReadonlyMap<string, unknown>): string[] {
  const problems: string[] = [];
  const has = (name: string): boolean => values.get(name) != null;
  const needs = (name: string, other: string): void => {
    if (has(name) && !has(other)) problems.push(`${name}: needs ${other}, which is not set`);
  };
  needs('mqtt_password', 'mqtt_user');
  needs('mqtt_client_cert', 'mqtt_client_key');
  needs('mqtt_client_key', 'mqtt_client_cert');
  for (const name of ['mqtt_ca_cert', 'mqtt_client_cert', 'mqtt_client_key']) {
    if (has(name) && values.get('mqtt_tls') !== true) problems.push(`${name}: needs mqtt_tls: true`);
  }
  const wordless = /[/+#\0\s]/;
  const share = values.get('mqtt_share');
  if (typeof share === 'string' && wordless.test(share)) {
    problems.push(`mqtt_share: must have no spaces, "/", "+" or "#", found ${show(share)}`);
  }
  if (has('mqtt_share') && (values.get('cluster_servers') as readonly unknown[] | undefined)?.length) {
    problems.push('mqtt_share: must not be set in a cluster, where one hub has a subscription for all');
  }
  if (has('mqtt_subscriptions')) problems.push(...subscriptionProblems(values.get('mqtt_subscriptions') as string[]));
  if (values.get('mqtt_home_assistant') === true && !has('mqtt_address')) {
    problems.push('mqtt_home_assistant: needs mqtt_address, which is not set');
  }
  const prefix = values.get('mqtt_home_assistant_prefix');
  if (typeof prefix === 'string' && (/[+#\0]/.test(prefix) || prefix.endsWith('/'))) {
    problems.push(`mqtt_home_assistant_prefix: must have no "+" or "#", and no "/" at its end, found ${show(prefix)}`);
  }
  const root = values.get('uns_root');
  if (typeof root === 'string' && (/[+#\0]/.test(root) || root.endsWith('/'))) {
    problems.push(`uns_root: must have no "+" or "#", and no "/" at its end, found ${show(root)}`);
  }
  return problems;
}

/** Problems of mqtt_subscriptions: topics that are not topics of a source, and topics that overlap. */
function subscriptionProblems(topics: readonly string[]): readonly string[] {
  const wanted = SOURCE_TOPICS.map((topic) => `"${topic}/…"`).join(' or ');
  return topics.flatMap((topic, index) => {
    const name = `mqtt_subscriptions[${index}]`;
    if (!isSourceFilter(topic)) return [`${name}: must be a topic filter like ${wanted}, found ${show(topic)}`];
    const other = topics.slice(0, index).find((before) => isSourceFilter(before) && doOverlap(before, topic));
    if (other === undefined) return [];
    return [`${name}: must have no topic in common with another one, found ${show(topic)} and ${show(other)}`];
  });
}

function isSourceFilter(topic: string): boolean {
  const levels = topic.split('/');
  const isFilter = levels.every((level, index) => {
    return level === '+' || (level === '#' && index === levels.length - 1) || !/[+#\0]/.test(level);
  });
  return isFilter && SOURCE_TOPICS.some((parent) => topic === parent || topic.startsWith(`${parent}/`));
}

/** Whether a topic matches two MQTT filters: "+" is any level, "#" any number of levels at the end. */
function doOverlap(one: string, other: string): boolean {
  const [levels, others] = [one.split('/'), other.split('/')];
  for (let at = 0; ; at++) {
    const [level, another] = [levels[at], others[at]];
    if (level === '#' || another === '#') return true;
    if (level === undefined || another === undefined) return level === another;
    if (level !== another && level !== '+' && another !== '+') return false;
  }
}
