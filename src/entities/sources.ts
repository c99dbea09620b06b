import { hubError } from '../errors.ts';
import { compileMap } from '../mapping/compile_map.ts';
import { checker } from '../model/check.ts';
import { show } from '../model/error_value_text.ts';
import { Source, SourceMap } from '../model/source.ts';
import { onlyMembers } from './body.ts';
import type { DocumentKind } from './documents.ts';

const schema = checker(Source);

/** URL schemes of each kind; none for kinds to which the hub does not connect. */
const SCHEMES: Readonly<Record<Source['kind'], readonly string[]>> = {
  http: [],
  udp: [],
  mqtt: ['mqtt:', 'mqtts:'],
  tcp: ['tcp:', 'tls:'],
  websocket: ['ws:', 'wss:'],
  poll: ['http:', 'https:'],
};

/** Members that a kind has, besides those of all kinds. */
const OF_KIND: Readonly<Record<Source['kind'], readonly (keyof Source)[]>> = {
  http: [],
  udp: ['port'],
  mqtt: ['url', 'topic', 'username', 'password'],
  tcp: ['url'],
  websocket: ['url', 'username', 'password', 'open_message'],
  poll: ['url', 'interval', 'username', 'password'],
};
const KIND_MEMBERS = ['port', 'url', 'topic', 'username', 'password', 'open_message', 'interval'] as const;
/** Members without which a source cannot work. */
const REQUIRED: readonly (keyof Source)[] = ['port', 'url', 'topic'];

const MAP_MEMBERS = Object.keys(SourceMap.properties);

/** Sources of locations as stored documents. */
export const SOURCES: DocumentKind<Source> = {
  prefix: 'source ',
  kind: 'source',
  max: 100,
  secrets: { paths: [['password'], ['open_message']], receivers: [['url']] },
  check(body) {
    const { token: _token, ...source } = onlyMembers(Source, schema.parse(body));
    checkMembers(source);
    if (source.columns != null && source.format !== 'csv') {
      throw hubError('not_for_source_format', { path: 'columns', source_format: source.format });
    }
    // A misspelled member would be ignored without notice.
    const unknown = Object.keys(source.map).find((name) => !MAP_MEMBERS.includes(name));
    if (unknown !== undefined) {
      throw hubError('out_of_choices', { path: 'map', allowed: MAP_MEMBERS.join(', '), found: show(unknown) });
    }
    compileMap(source.map);
    return source;
  },
};

function checkMembers(source: Source): void {
  const { kind, url } = source;
  const own = OF_KIND[kind];
  const foreign = KIND_MEMBERS.find((name) => source[name] != null && !own.includes(name));
  if (foreign !== undefined) throw hubError('not_for_source_kind', { path: foreign, source_kind: kind });
  const missing = own.find((name) => REQUIRED.includes(name) && source[name] == null);
  if (missing !== undefined) throw hubError('missing', { path: missing });
  if (url != null) checkUrl(kind, url);
}

/** Throws HUB_BAD_REQUEST, without a password. */
function checkUrl(kind: Source['kind'], url: string): void {
  const parsed = URL.parse(url);
  const found = show(url.replace(/\/\/[^/@]*@/, '//***@'));
  const hasPort = kind !== 'tcp' || parsed?.port !== '';
  if (parsed === null || !SCHEMES[kind].includes(parsed.protocol) || parsed.hostname === '' || !hasPort) {
    const allowed = SCHEMES[kind].map((scheme) => `${scheme}//host${kind === 'tcp' ? ':port' : ''}`).join(', ');
    throw hubError('not_a_source_url', { path: 'url', source_kind: kind, allowed, found });
  }
  if (parsed.username !== '' || parsed.password !== '') throw hubError('url_with_credentials', { path: 'url', found });
  if (parsed.hash !== '') throw hubError('url_with_fragment', { path: 'url', found });
}
