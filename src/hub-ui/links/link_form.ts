import type { Link, LinkTopic } from '../../model/link.ts';
import { pairsText, readPairs, withTypesOf } from '../controls/pairs.ts';
import { NO_SECRET, type SecretInput, secretMember } from '../controls/secret_input.ts';
import type { FailedRequest } from '../hub/rest.ts';
import { t } from '../languages/language.ts';

/** How the link signs in at the other hub. `kept`: as stored, which the hub does not show. */
export type SignInWay = 'kept' | 'none' | 'token' | 'oidc';

/** Examples of inputs, the same in every language. */
export const EXAMPLES = {
  params: 'floor = 2',
  prefix: 'plant-2-',
  sources: 'hall-1 = hall',
  token_url: 'https://auth.example/token',
  url: 'https://hub.plant-2.example/v2',
} as const;

/** Inputs of the form. Pairs are edited as text. */
export interface LinkForm extends Pick<Link, 'name' | 'url'> {
  readonly topics: readonly LinkTopic[];
  readonly isMirror: boolean;
  readonly params: string;
  readonly sources: string;
  readonly id_prefix: string;
  readonly min_interval: number | undefined;
  readonly way: SignInWay;
  readonly token: string;
  readonly token_url: string;
  readonly client_id: string;
  readonly client_secret: SecretInput;
  readonly scope: string;
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
    way: link === undefined ? 'none' : link.oidc == null ? 'kept' : 'oidc',
    token: '',
    token_url: link?.oidc?.token_url ?? '',
    client_id: link?.oidc?.client_id ?? '',
    client_secret: NO_SECRET,
    scope: link?.oidc?.scope ?? '',
  };
}

/** Returns the first input that the hub could not understand; undefined for a complete form. */
export function problemOf(form: LinkForm): FailedRequest | undefined {
  if (form.name.trim() === '') return problem('name', t('Give it a name'));
  if (form.url.trim() === '') return problem('url', t('Enter its URL'));
  if (form.topics.length === 0) return problem('topics', t('Choose at least one topic'));
  if (form.way === 'token' && form.token === '') return problem('token', t('Enter the access token'));
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
    ...signInOf(form),
  };
}

function signInOf({ way, token, token_url, client_id, client_secret, scope }: LinkForm): object {
  switch (way) {
    case 'kept':
      return { token: undefined, oidc: undefined };
    case 'none':
      return { token: null, oidc: undefined };
    case 'token':
      return { token, oidc: undefined };
    case 'oidc': {
      const secret = secretMember(client_secret);
      const names = { token_url: token_url.trim(), client_id: client_id.trim() };
      return { token: null, oidc: { ...names, client_secret: secret, scope: scope.trim() || undefined } };
    }
  }
}

function pairsOf(text: string): Readonly<Record<string, string>> {
  return readPairs(text, '=') as Readonly<Record<string, string>>;
}
