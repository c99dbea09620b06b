import { hubError, type HubError } from '../errors.ts';
import { hostname } from 'node:os';
import type { HttpHead } from '../exchange.ts';
import type { Addressed, ForwardedHeaders } from './forwarded.ts';

/**
 * Rules that restrict the access of foreign web pages to the hub, through the browser of a user who can reach it.
 *
 * Such a page has no access of its own but uses the browser's. Either it comes from another origin, which browsers
 * report in Origin or Sec-Fetch-Site. Or it resolves its own host name to the hub's address (DNS rebinding): then its
 * origin equals the hub's, but Host contains the page's name. A page cannot set these headers. Programs other than
 * browsers send neither Origin nor Sec-Fetch-Site, so only their Host is checked.
 */
export interface BrowserRules {
  /**
   * Names of the hub, in addition to those that no foreign page can have. A leading dot includes all subdomains; `*` is
   * any name. If undefined, Host is not checked.
   */
  readonly hosts: readonly string[] | undefined;
  /** Origins whose pages have full access, such as https://dashboard.example.com; `*` for all. */
  readonly origins: readonly string[];
  /** Access of pages of other origins: full access, reading without WebSockets, or none. */
  readonly foreign: 'everything' | 'read' | 'nothing';
  /** Whether the served certificate is valid for a host name. */
  readonly isCertified?: (name: string) => boolean;
}

/** A request with headers. */
type Headed = Pick<HttpHead, 'header'>;

const ANY = '*';
/** Maximum number of host names that are cached as the hub's own. */
const KNOWN_MAX = 64;
const ADDRESS = /^(?:\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+\])$/i;
const LOOPBACK_PAGE = /^https?:\/\/(?:localhost|[^/:]+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i;

/** Rejects requests of web pages that the rules do not permit. */
export class Browsers {
  readonly #rules: BrowserRules;
  readonly #forwarded: ForwardedHeaders;
  readonly #known = new Set<string>();

  constructor(rules: BrowserRules, forwarded: ForwardedHeaders) {
    this.#rules = rules;
    this.#forwarded = forwarded;
  }

  /** Returns why a request is rejected; undefined if it is accepted. hot: once per request. */
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

  /** Returns the origin of the page that sends the request, if it is foreign and not permitted. */
  #foreignPage(request: Headed, response: Addressed, host: string | undefined): string | undefined {
    const origin = request.header('origin');
    const site = request.header('sec-fetch-site');
    if (origin === undefined) return site === 'cross-site' || site === 'same-site' ? site : undefined;
    if (site === 'same-origin' || site === 'none') return undefined;
    const { origins, foreign } = this.#rules;
    if (origins.includes(origin) || origins.includes(ANY)) return undefined;
    const authority = authorityOf(origin.slice(origin.indexOf('//') + 2));
    if (host !== undefined && authority === authorityOf(host)) return undefined;
    // A proxy may replace Host with its own name for the hub.
    if (this.#forwarded.hostsOf(request, response).some((forwarded) => authority === authorityOf(forwarded)))
      return undefined;
    if (foreign === 'read' && LOOPBACK_PAGE.test(origin)) return undefined;
    return JSON.stringify(origin.slice(0, 100));
  }

  /**
   * Whether Host is a name of the hub. Addresses, localhost and names without a dot always are, since a foreign page
   * has a publicly resolved name.
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
 * Returns host and port in comparable form, without default ports. Browsers omit these, proxies may not, and not every
 * proxy reports the scheme.
 */
function authorityOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.?(?::(?:80|443)?)?$/, '')
    .replace(/\.(?=:\d+$)/, '');
}

/** Returns a host name without port and trailing dot. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

function isMatch(allowed: string, name: string): boolean {
  if (allowed === ANY) return true;
  return allowed.startsWith('.') ? name.endsWith(allowed) || name === allowed.slice(1) : name === allowed;
}
