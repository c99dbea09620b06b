import { hubError, type HubError } from '../errors.ts';
import { hostname } from 'node:os';
import type { HttpHead } from '../exchange.ts';
import type { Addressed, ForwardedHeaders } from './forwarded.ts';

/**
 * Restricts what web pages may do to the hub through the browser of a user who can reach it.
 *
 * Such a page has no access of its own: it uses the browser's. It comes from another origin, which browsers send in
 * Origin or Sec-Fetch-Site; or it has resolved its own host name to the hub's address (DNS rebinding). Then its origin
 * is the hub's, but Host has the page's name. A page cannot set these headers. Programs other than browsers send
 * neither Origin nor Sec-Fetch-Site, and only their Host is checked.
 */
export interface BrowserRules {
  /**
   * Names of the hub, besides those that no foreign page can have. A name with a leading dot includes all names below
   * it; `*` means every name. Undefined: Host is not checked.
   */
  readonly hosts: readonly string[] | undefined;
  /** Origins whose pages may do everything, such as https://dashboard.example.com; `*` for all. */
  readonly origins: readonly string[];
  /** Rights of pages of other origins: everything, everything but changes and WebSockets, or nothing. */
  readonly foreign: 'everything' | 'read' | 'nothing';
  /** Whether the served certificate names a host. */
  readonly isCertified?: (name: string) => boolean;
}

/** A request with headers. */
type Headed = Pick<HttpHead, 'header'>;

const ANY = '*';
/** Maximum number of host names that are cached as the hub's own. */
const KNOWN_MAX = 64;
const ADDRESS = /^(?:\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+\])$/i;
const LOOPBACK_PAGE = /^https?:\/\/(?:localhost|[^/:]+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i;

/** Rejects requests that a web page may not send. */
export class Browsers {
  readonly #rules: BrowserRules;
  readonly #forwarded: ForwardedHeaders;
  readonly #known = new Set<string>();

  constructor(rules: BrowserRules, forwarded: ForwardedHeaders) {
    this.#rules = rules;
    this.#forwarded = forwarded;
  }

  /** Why a request is rejected; undefined if it is not. hot: once per request. */
  problemOf(request: Headed, response: Addressed, isChange: boolean): HubError | undefined {
    const host = request.header('host');
    if (host !== undefined && !this.#known.has(host) && !this.#isNamed(host)) {
      return hubError('wrong_host', { path: 'Host', found: JSON.stringify(host.slice(0, 100)) });
    }
    const { foreign } = this.#rules;
    if (foreign === 'everything' || (foreign === 'read' && !isChange)) return undefined;
    const page = this.#foreignPage(request, response, host);
    if (page === undefined) return undefined;
    return hubError('foreign_page', { origin: page, host: host?.slice(0, 100) ?? '' });
  }

  /** Origin of the page that sends the request, if it is another origin without permission. */
  #foreignPage(request: Headed, response: Addressed, host: string | undefined): string | undefined {
    const origin = request.header('origin');
    const site = request.header('sec-fetch-site');
    if (origin === undefined) return site === 'cross-site' || site === 'same-site' ? site : undefined;
    if (site === 'same-origin' || site === 'none') return undefined;
    const { origins, foreign } = this.#rules;
    if (origins.includes(origin) || origins.includes(ANY)) return undefined;
    const authority = authorityOf(origin.slice(origin.indexOf('//') + 2));
    if (host !== undefined && authority === authorityOf(host)) return undefined;
    // A proxy may replace Host by its own name for the hub.
    if (this.#forwarded.hostsOf(request, response).some((forwarded) => authority === authorityOf(forwarded)))
      return undefined;
    if (foreign === 'read' && LOOPBACK_PAGE.test(origin)) return undefined;
    return JSON.stringify(origin.slice(0, 100));
  }

  /**
   * Whether Host names the hub. Addresses, localhost and names without a dot always do: a foreign page comes from a
   * name that is resolved publicly.
   */
  #isNamed(host: string): boolean {
    const { hosts, isCertified } = this.#rules;
    if (hosts === undefined) return true;
    const name = nameOf(host);
    const isOwn =
      ADDRESS.test(name) ||
      !name.includes('.') ||
      name.endsWith('.localhost') ||
      [hostname(), `${hostname()}.local`].some((own) => own.toLowerCase() === name) ||
      hosts.some((allowed) => isMatch(allowed.toLowerCase(), name)) ||
      isCertified?.(name) === true;
    if (isOwn && this.#known.size < KNOWN_MAX) this.#known.add(host);
    return isOwn;
  }
}

/**
 * Host and port in comparable form, without default ports: browsers omit them, proxies may not, and not every proxy
 * reports the scheme.
 */
function authorityOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.?(?::(?:80|443)?)?$/, '')
    .replace(/\.(?=:\d+$)/, '');
}

/** Host name without the port and a trailing dot. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

function isMatch(allowed: string, name: string): boolean {
  if (allowed === ANY) return true;
  return allowed.startsWith('.') ? name.endsWith(allowed) || name === allowed.slice(1) : name === allowed;
}
