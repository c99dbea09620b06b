import type { Link, LinkTopic } from '../../model/link.ts';
import { pairsText, readPairs, withTypesOf } from '../controls/pairs.ts';
import type { FailedRequest } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { type CredentialsForm, credentialsFormOf, credentialsOf, isTokenMissing } from './credentials_form.ts';

/** Examples of inputs, the same in every language. */
export const EXAMPLES = {
  params: 'floor = 2',
  prefix: 'plant-2-',
  sources: 'hall-1 = hall',
  url: 'https://hub.plant-2.example/v2',
} as const;

/** Inputs of the form. Pairs are edited as text. */
export interface LinkForm extends Pick<Link, 'name' | 'url'>, CredentialsForm {
  readonly topics: readonly LinkTopic[];
  readonly isMirror: boolean;
  readonly params: string;
  readonly sources: string;
  readonly id_prefix: string;
  readonly min_interval: number | undefined;
}

/** Inputs for a link; undefined for a new one. */
export function formOf(link: Link | undefined): LinkForm {
  return {
    name: link?.name ?? '',
    url: link?.url ?? '',
    topics: link?.topics ?? ['location_updates'],
    isMirror: link?.entities === 'mirror',
    params: pairsText(link?.params, '='),
    sources: pairsText(link?.sources, '='),
    id_prefix: link?.id_prefix ?? '',
    min_interval: link?.min_interval ?? undefined,
    ...credentialsFormOf(link),
  };
}

/** Returns the first input that the hub could not understand; undefined for a complete form. */
export function problemOf(form: LinkForm): FailedRequest | undefined {
  if (form.name.trim() === '') return problem('name', t('Enter a name'));
  if (form.url.trim() === '') return problem('url', t('Enter its URL'));
  if (form.topics.length === 0) return problem('topics', t('Choose at least one topic'));
  if (isTokenMissing(form)) return problem('token', t('Enter the access token'));
  for (const path of ['params', 'sources'] as const) {
    const example = EXAMPLES[path];
    const read = readPairs(form[path], '=');
    if (typeof read === 'string') return problem(path, t('“{line}” is not like {example}', { line: read, example }));
  }
  return undefined;
}

function problem(path: string, message: string): FailedRequest {
  return { params: { path }, message };
}

/** Request body of a complete form. Members that the form does not show are those of the stored link. */
export function bodyOf(form: LinkForm, stored: Link | undefined): object {
  const params = withTypesOf(stored?.params, pairsOf(form.params));
  const sources = pairsOf(form.sources);
  return {
    ...stored,
    state: undefined,
    name: form.name.trim(),
    url: form.url.trim(),
    topics: form.topics,
    entities: form.isMirror ? 'mirror' : undefined,
    params: Object.keys(params).length === 0 ? undefined : params,
    sources: Object.keys(sources).length === 0 ? undefined : sources,
    id_prefix: form.id_prefix === '' ? undefined : form.id_prefix,
    min_interval: form.min_interval,
    ...credentialsOf(form),
  };
}

function pairsOf(text: string): Readonly<Record<string, string>> {
  return readPairs(text, '=') as Readonly<Record<string, string>>;
}
