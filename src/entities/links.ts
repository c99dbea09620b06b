import { hubError } from '../errors.ts';
import { checker } from '../model/check.ts';
import { show } from '../model/error_value_text.ts';
import { Link } from '../model/link.ts';
import { type EntityBody, onlyMembers } from './body.ts';
import type { DocumentKind } from './documents.ts';

const schema = checker(Link);

/** Links to other hubs as stored documents. */
export const LINKS: DocumentKind<Link> = {
  prefix: 'link ',
  kind: 'link',
  max: 100,
  check,
  secrets: { paths: [['token'], ['oidc', 'client_secret']], receivers: [['url'], ['oidc', 'token_url']] },
};

function check(body: EntityBody): Link {
  const link = onlyMembers(Link, schema.parse(body));
  checkApiUrl('url', link.url);
  if (link.oidc != null) checkApiUrl('oidc.token_url', link.oidc.token_url);
  if (link.token != null && link.oidc != null) throw hubError('not_with', { path: 'token', member: 'oidc' });
  // Params are returned, so a token must not be among them.
  if (link.params != null && Object.hasOwn(link.params, 'token')) {
    throw hubError('not_with', { path: 'params.token', member: 'token' });
  }
  return link;
}

/** Throws HUB_BAD_REQUEST unless a string is the URL of an API. */
export function checkApiUrl(path: string, text: string): void {
  const url = URL.parse(text);
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return;
  throw hubError('not_an_api_url', { path, found: show(url === null || url.password === '' ? text : '***') });
}
