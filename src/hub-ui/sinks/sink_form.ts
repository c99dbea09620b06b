import type { Link } from '../../model/link.ts';
import { EVENT_TOPICS } from '../../model/logged_event.ts';
import { LIVE_TOPICS, type Sink, SINK_FORMATS } from '../../model/sink.ts';
import { pairsText, readPairs, withTypesOf } from '../controls/pairs.ts';
import { NO_SECRET, type SecretInput, secretMember } from '../controls/secret_input.ts';
import type { FailedRequest } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { type CredentialsForm, credentialsFormOf, credentialsOf, isTokenMissing } from '../links/credentials_form.ts';

export type SinkTopic = Sink['topics'][number];

const SINK_TOPICS: readonly SinkTopic[] = [...EVENT_TOPICS, ...LIVE_TOPICS];

/** Examples of inputs, the same in every language. */
export const EXAMPLES = {
  headers: 'X-Api-Key: 1a2b3c',
  login: 'hub:password',
  params: 'event_type = region_entry',
  sender: 'hub@example.com',
} as const;

/** A sink with the credentials of another hub. */
type StoredSink = Sink & Pick<Link, 'oidc'>;

/** Inputs of the form. Lists and pairs are edited as text. */
export interface SinkForm extends Pick<Sink, 'name' | 'type' | 'url'>, CredentialsForm {
  readonly topics: readonly SinkTopic[];
  readonly params: string;
  readonly format: NonNullable<Sink['format']>;
  readonly overflow: NonNullable<Sink['overflow']>;
  readonly concurrency: number | undefined;
  readonly batch_max: number | undefined;
  readonly timeout: number | undefined;
  readonly secret: SecretInput;
  readonly headers: SecretInput;
  readonly ca_certificate: string;
  readonly sender: string;
  readonly recipients: string;
  readonly digest_interval: number | undefined;
  /** Empty without quiet hours. */
  readonly quietFrom: string;
  readonly quietTo: string;
  readonly quietZone: string;
}

/** Members that only sinks of some types have. */
type Own =
  | 'headers'
  | 'ca_certificate'
  | 'oidc'
  | 'format'
  | 'sender'
  | 'recipients'
  | 'digest_interval'
  | 'quiet_hours'
  | 'concurrency';

/** Inputs of each type besides those of all types. Types that the page does not know have the common ones. */
const OWN: Readonly<Record<string, readonly Own[]>> = {
  webhook: ['headers', 'format', 'concurrency'],
  hub: ['oidc'],
  kafka: ['format', 'ca_certificate'],
  nats: ['format', 'concurrency'],
  email: ['sender', 'recipients', 'digest_interval', 'quiet_hours'],
};

/** Whether sinks of a type have a member. */
export function has(type: Sink['type'], member: Own): boolean {
  return OWN[type]?.includes(member) ?? (member === 'format' || member === 'concurrency');
}

/** Topics of a type: another hub receives locations. */
export function topicsOf(type: string): readonly SinkTopic[] {
  return type === 'hub' ? ['location_updates'] : SINK_TOPICS;
}

/** Formats of a type: a record of Kafka has the key of one object, so it contains one event. */
export function formatsOf(type: string): readonly SinkForm['format'][] {
  return type === 'kafka' ? SINK_FORMATS.filter((format) => format !== 'cloudevents_batch') : SINK_FORMATS;
}

/** Inputs for a sink; undefined for a new one. */
export function formOf(sink: StoredSink | undefined, timeZone: string): SinkForm {
  return {
    name: sink?.name ?? '',
    type: sink?.type ?? 'webhook',
    url: sink?.url ?? '',
    topics: sink?.topics ?? ['fence_events'],
    params: pairsText(sink?.params, '='),
    format: sink?.format ?? 'cloudevents',
    overflow: sink?.overflow ?? 'newest_per_object',
    concurrency: sink?.concurrency ?? undefined,
    batch_max: sink?.batch_max ?? undefined,
    timeout: sink?.timeout ?? undefined,
    ...credentialsFormOf(sink),
    secret: NO_SECRET,
    headers: NO_SECRET,
    ca_certificate: sink?.ca_certificate ?? '',
    sender: sink?.sender ?? '',
    recipients: (sink?.recipients ?? []).join('\n'),
    digest_interval: sink?.digest_interval ?? undefined,
    quietFrom: sink?.quiet_hours?.from ?? '',
    quietTo: sink?.quiet_hours?.to ?? '',
    // Quiet hours without a zone are in UTC.
    quietZone: sink?.quiet_hours == null ? timeZone : (sink.quiet_hours.time_zone ?? 'UTC'),
  };
}

/** Returns the first input that the hub could not understand; undefined for a complete form. */
export function problemOf({ name, url, params, headers, ...form }: SinkForm): FailedRequest | undefined {
  if (name.trim() === '') return { params: { path: 'name' }, message: t('Enter a name') };
  if (url.trim() === '') return { params: { path: 'url' }, message: t('Enter its URL') };
  if (has(form.type, 'oidc') && isTokenMissing(form)) {
    return { params: { path: 'secret' }, message: t('Enter the access token') };
  }
  const param = readPairs(params, '=');
  if (typeof param === 'string') return unreadable('params', param, EXAMPLES.params);
  const header = readPairs(headers.text, ':');
  if (typeof header === 'string') return unreadable('headers', header, EXAMPLES.headers);
  if ((form.quietFrom === '') !== (form.quietTo === '')) {
    return { params: { path: 'quiet_hours' }, message: t('Enter both times, or none') };
  }
  return undefined;
}

/** Problem of a line of pairs. */
function unreadable(path: string, line: string, example: string): FailedRequest {
  return { params: { path }, message: t('“{line}” is not like {example}', { line, example }) };
}

/** Request body of a complete form. Members that the form does not show are those of the stored sink. */
export function bodyOf(form: SinkForm, stored: Sink | undefined): object {
  const { type } = form;
  const isOtherType = stored !== undefined && stored.type !== type;
  const params = withTypesOf(stored?.params, readPairs(form.params, '=') as Readonly<Record<string, string>>);
  const own = (member: Own, value: unknown): object => ({ [member]: has(type, member) ? value : undefined });
  // Another type has other secrets.
  const secret = (member: string | null | undefined): string | null | undefined =>
    member === undefined && isOtherType ? null : member;
  const credentials = credentialsOf(form);
  return {
    ...(!isOtherType && stored),
    name: form.name.trim(),
    type,
    url: form.url.trim(),
    topics: form.topics.filter((topic) => topicsOf(type).includes(topic)),
    params: Object.keys(params).length === 0 ? undefined : params,
    timeout: form.timeout,
    batch_max: form.batch_max,
    overflow: form.overflow === 'newest_per_object' ? undefined : form.overflow,
    ...(has(type, 'oidc')
      ? { secret: secret(credentials.token), oidc: credentials.oidc }
      : { secret: secret(secretMember(form.secret)), oidc: undefined }),
    // Defaults are not stored, and another type may not have the format.
    ...own('format', form.format === 'cloudevents' || !formatsOf(type).includes(form.format) ? undefined : form.format),
    ...own('ca_certificate', form.ca_certificate.trim() || undefined),
    ...own('concurrency', form.concurrency),
    ...own('sender', form.sender.trim()),
    ...own('recipients', listOf(form.recipients)),
    ...own('digest_interval', form.digest_interval),
    ...own('quiet_hours', quietHoursOf(form)),
    headers: has(type, 'headers') ? headersOf(secret(secretMember(form.headers))) : isOtherType ? null : undefined,
  };
}

function headersOf(text: string | null | undefined): object | null | undefined {
  return text == null ? text : (readPairs(text, ':') as object);
}

function quietHoursOf({ quietFrom: from, quietTo: to, quietZone }: SinkForm): object | undefined {
  return from === '' ? undefined : { from, to, time_zone: quietZone };
}

/** Items of a list that are separated by commas, semicolons or lines. */
export function listOf(text: string): readonly string[] {
  return text
    .split(/[,;\n]/)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
