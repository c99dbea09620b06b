import { hostname } from 'node:os';
import { HubError } from '../errors.ts';
import type { HttpHead } from '../exchange.ts';
import type { Addressed, Forwarded } from './forwarded.ts';

/**
 * What web pages may do to the hub through the browser of somebody who can reach it.
 *
 * Such a page has no access of its own: it borrows that of the browser. It comes from another origin, which browsers say
 * in Origin, or in Sec-Fetch-Site; or it has its own host name resolved to the hub's address (DNS rebinding) and is of the
 * hub's own origin then, but Host still says its name. Neither header can be set by a page. Programs other than browsers
 * send neither Origin nor Sec-Fetch-Site, and are not looked at but for their Host.
 */
export interface BrowserRules {
  /**
   * Names that the hub may be asked for by, besides those that no page of somebody else can have. One that begins with a
   * dot stands for all below it, too; `*` for every name. Undefined: Host is not looked at.
   */
  readonly hosts: readonly string[] | undefined;
  /** Origins whose pages may do everything, such as https://dashboard.example.com; `*`: those of all. */
  readonly origins: readonly string[];
  /** What pages of other origins may do: everything, everything but changes and WebSockets, or nothing. */
  readonly foreign: 'everything' | 'read' | 'nothing';
  /** Whether a name is one of the certificate that is served. */
  readonly isCertified?: (name: string) => boolean;
}

/** A request whose headers can be looked at. */
type Headed = Pick<HttpHead, 'header'>;

const ANY = '*';
/** Names that were found to be the hub's own are known from then on. */
const KNOWN_MAX = 64;
const ADDRESS = /^(?:\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+\])$/i;
const LOOPBACK_PAGE = /^https?:\/\/(?:localhost|[^/:]+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i;

/** Refuses what a web page may not do. */
export class Browsers {
  readonly #rules: BrowserRules;
  readonly #forwarded: Forwarded;
  readonly #known = new Set<string>();

  constructor(rules: BrowserRules, forwarded: Forwarded) {
    this.#rules = rules;
    this.#forwarded = forwarded;
  }

  /** Why a request is refused; undefined when it is not. hot: once per request. */
  problemOf(request: Headed, response: Addressed, isChange: boolean): HubError | undefined {
    const host = request.header('host');
    if (host !== undefined && !this.#known.has(host) && !this.#isNamed(host)) {
      const what = `Host: must be a name of this hub, found ${JSON.stringify(host.slice(0, 100))}; allowed_hosts names them`;
      return new HubError('HUB_HOST_UNKNOWN', what);
    }
    const { foreign } = this.#rules;
    if (foreign === 'everything' || (foreign === 'read' && !isChange)) return undefined;
    const page = this.#foreignPage(request, response, host);
    if (page === undefined) return undefined;
    const asked = host === undefined ? 'no Host' : `Host ${JSON.stringify(host.slice(0, 100))}`;
    const advice = 'allowed_origins names those that may, trusted_proxies the proxies whose X-Forwarded-Host counts';
    const what = `Cannot take the request: it comes from a web page of another origin, ${page}, to ${asked}; ${advice}`;
    return new HubError('HUB_FOREIGN_PAGE', what);
  }

  /** The origin of the page that sends the request, where it is of another one and may not. */
  #foreignPage(request: Headed, response: Addressed, host: string | undefined): string | undefined {
    const origin = request.header('origin');
    const site = request.header('sec-fetch-site');
    if (origin === undefined) return site === 'cross-site' || site === 'same-site' ? site : undefined;
    if (site === 'same-origin' || site === 'none') return undefined;
    const { origins, foreign } = this.#rules;
    if (origins.includes(origin) || origins.includes(ANY)) return undefined;
    const authority = authorityOf(origin.slice(origin.indexOf('//') + 2));
    if (host !== undefined && authority === authorityOf(host)) return undefined;
    // A proxy may put its own name for the hub into Host.
    if (this.#forwarded.hostsOf(request, response).some((forwarded) => authority === authorityOf(forwarded)))
      return undefined;
    if (foreign === 'read' && LOOPBACK_PAGE.test(origin)) return undefined;
    return JSON.stringify(origin.slice(0, 100));
  }

  /**
   * Addresses, localhost and names without a dot are nobody else's: a page of a stranger comes from a name that the whole
   * world resolves.
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
 * A name and port to be compared with others. A browser leaves the default port of its scheme out, a proxy may name it, and not
 * every proxy says by which scheme it was asked.
 */
function authorityOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.?(?::(?:80|443)?)?$/, '')
    .replace(/\.(?=:\d+$)/, '');
}

/** Without the port, and the dot that may end it. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

function isMatch(allowed: string, name: string): boolean {
  if (allowed === ANY) return true;
  return allowed.startsWith('.') ? name.endsWith(allowed) || name === allowed.slice(1) : name === allowed;
}
