import { X509Certificate } from 'node:crypto';
import { hubError, messageOf } from '../errors.ts';
import { checker } from '../model/check.ts';
import { pathOf, show } from '../model/error_value_text.ts';
import { Sink } from '../model/sink.ts';
import { isTimeZone } from '../model/zone_clock.ts';
import { onlyMembers } from './body.ts';
import type { DocumentKind } from './documents.ts';
import { checkApiUrl } from './links.ts';

const schema = checker(Sink);

const SINKS_MAX = 100;

/** URL schemes of each type. */
const SCHEMES: Readonly<Record<Sink['type'], readonly string[]>> = {
  webhook: ['https:', 'http:'],
  hub: ['https:', 'http:'],
  kafka: ['kafka:', 'kafka+tls:'],
  nats: ['nats:', 'tls:'],
  email: ['smtp:', 'smtps:'],
};

/** Names of headers that the hub sets. */
const OWN_HEADERS =
  /^(webhook-.*|content-(type|length|encoding)|host|connection|transfer-encoding|te|upgrade|expect)$/i;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const SIGNING_KEY = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const [KEY_BYTES_MIN, KEY_BYTES_MAX] = [24, 64] as const;

/** Sinks as stored documents. */
export const SINKS: DocumentKind<Sink> = {
  prefix: 'sink ',
  kind: 'sink',
  max: SINKS_MAX,
  secrets: {
    paths: [['secret'], ['headers'], ['oidc', 'client_secret']],
    receivers: [['url'], ['oidc', 'token_url']],
  },
  check(body) {
    const sink = onlyMembers(Sink, schema.parse(body));
    checkUrl(sink);
    const repeated = sink.topics.find((topic, i) => sink.topics.indexOf(topic) < i);
    if (repeated !== undefined) throw hubError('repeated_value', { path: 'topics', found: show(repeated) });
    if (sink.type === 'webhook' && sink.secret != null) checkSigningKey(sink.secret);
    checkMembers(sink);
    for (const [name, value] of Object.entries(sink.headers ?? {})) checkHeader(name, value);
    return sink;
  },
};

function checkUrl({ type, url }: Sink): void {
  const schemes = SCHEMES[type];
  const parsed = URL.parse(url);
  if (parsed === null || !schemes.includes(parsed.protocol) || parsed.hostname === '') {
    const allowed = schemes.map((scheme) => `${scheme}//`).join(', ');
    throw hubError('not_a_sink_url', { path: 'url', sink_type: type, allowed, found: show(withoutPassword(url)) });
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw hubError('url_with_credentials', { path: 'url', found: show(withoutPassword(url)) });
  }
  if (parsed.hash !== '') throw hubError('url_with_fragment', { path: 'url', found: show(url) });
}

function withoutPassword(url: string): string {
  return url.replace(/\/\/[^/@]*@/, '//***@');
}

/** Members for one type alone. */
const OF_TYPE = {
  webhook: ['headers'],
  hub: ['oidc'],
  kafka: ['ca_certificate'],
  nats: [],
  email: ['sender', 'recipients', 'digest_interval', 'quiet_hours'],
} as const satisfies Readonly<Record<Sink['type'], readonly (keyof Sink)[]>>;

const ADDRESS = /^[^@\s<>,;]+@[^@\s<>,;]+$/;
const SUBJECT = /^[^\s.*>]+(\.[^\s.*>]+)*$/;

const TOPIC = /^(?!\.{1,2}$)[\w.-]{1,249}$/;
const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const;

/** Name in the path of a URL: a subject of NATS, or a topic of Kafka. Empty without a valid one. */
export function targetNameOf(url: string): string {
  try {
    return decodeURIComponent(new URL(url).pathname.slice(1));
  } catch {
    return '';
  }
}

/** SASL mechanism in the URL of a Kafka sink; undefined without a valid one. PLAIN by default. */
export function kafkaMechanismOf(url: string): (typeof MECHANISMS)[number] | undefined {
  const name = new URL(url).searchParams.get('sasl') ?? 'PLAIN';
  return MECHANISMS.find((mechanism) => mechanism === name.toUpperCase());
}

function checkMembers(sink: Sink): void {
  const { type } = sink;
  const own: readonly string[] = OF_TYPE[type];
  for (const name of Object.values(OF_TYPE).flat()) {
    if (sink[name] != null && !own.includes(name)) throw hubError('not_for_sink_type', { path: name, sink_type: type });
  }
  if (type === 'nats') {
    const subject = targetNameOf(sink.url);
    if (!SUBJECT.test(subject) || subject.startsWith('$'))
      throw hubError('not_a_subject', { path: 'url', found: show(sink.url) });
  }
  if ((type === 'email' || type === 'kafka') && sink.secret?.includes(':') === false)
    throw hubError('not_user_and_password', { path: 'secret' });
  if (type === 'hub') checkHub(sink);
  if (type === 'kafka') checkKafka(sink);
  if (type === 'email') checkEmail(sink);
}

/** A sink to another hub delivers locations only. */
function checkHub({ url, topics, format, secret, oidc }: Sink): void {
  checkApiUrl('url', url);
  if (oidc != null) checkApiUrl('oidc.token_url', oidc.token_url);
  if (secret != null && oidc != null) throw hubError('not_with', { path: 'secret', member: 'oidc' });
  if (format != null) throw hubError('not_for_sink_type', { path: 'format', sink_type: 'hub' });
  const other = topics.findIndex((topic) => topic !== 'location_updates');
  if (other >= 0) throw hubError('not_for_sink_type', { path: pathOf('topics', [String(other)]), sink_type: 'hub' });
}

function checkKafka({ url, format, ca_certificate: authorities }: Sink): void {
  if (!TOPIC.test(targetNameOf(url))) throw hubError('not_a_topic', { path: 'url', found: show(url) });
  if (kafkaMechanismOf(url) === undefined)
    throw hubError('not_a_mechanism', { path: 'url', allowed: MECHANISMS.join(', '), found: show(url) });
  if (authorities != null) checkCertificates(authorities);
  // A record has the key of one object.
  if (format === 'cloudevents_batch') throw hubError('not_for_sink_type', { path: 'format', sink_type: 'kafka' });
}

const PEM_END = '-----END CERTIFICATE-----';

/** Throws HUB_BAD_REQUEST unless a text has certificates in PEM. */
function checkCertificates(text: string): void {
  const all = text.split(PEM_END).slice(0, -1);
  try {
    for (const each of all) new X509Certificate(each + PEM_END);
  } catch (error) {
    throw hubError('not_a_certificate', { path: 'ca_certificate' }, { detail: messageOf(error) });
  }
  if (all.length === 0) throw hubError('not_a_certificate', { path: 'ca_certificate' }, { detail: 'found none' });
}

function checkEmail(sink: Sink): void {
  const { sender, recipients, quiet_hours: quiet } = sink;
  if (quiet?.time_zone != null && !isTimeZone(quiet.time_zone)) {
    throw hubError('not_a_time_zone', { path: 'quiet_hours.time_zone', found: show(quiet.time_zone) });
  }
  if (sender == null || !ADDRESS.test(sender))
    throw hubError('not_an_address', { path: 'sender', found: show(sender) });
  if (recipients == null || recipients.length === 0)
    throw hubError('not_an_address', { path: 'recipients', found: show(recipients) });
  for (const [i, recipient] of recipients.entries()) {
    if (ADDRESS.test(recipient)) continue;
    throw hubError('not_an_address', { path: pathOf('recipients', [String(i)]), found: show(recipient) });
  }
}

/** Throws HUB_BAD_REQUEST, without the secret. */
function checkSigningKey(secret: string): void {
  const bytes = Buffer.from(SIGNING_KEY.exec(secret)?.[1] ?? '', 'base64').length;
  if (bytes >= KEY_BYTES_MIN && bytes <= KEY_BYTES_MAX) return;
  throw hubError('not_a_signing_key', { path: 'secret', minimum: KEY_BYTES_MIN, maximum: KEY_BYTES_MAX });
}

/** Throws HUB_BAD_REQUEST, without the value. */
function checkHeader(name: string, value: string): void {
  const path = pathOf('headers', [name]);
  if (!HEADER_NAME.test(name) || OWN_HEADERS.test(name)) throw hubError('not_a_header', { path, found: show(name) });
  if (!HEADER_VALUE.test(value)) throw hubError('control_characters', { path });
}
