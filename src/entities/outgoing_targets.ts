import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { BlockList, isIP } from 'node:net';

/** Settings that limit targets. */
type AllowedHostsSetting = 'sink_allowed_hosts' | 'link_allowed_hosts' | 'source_allowed_hosts';

/**
 * Decides to which hosts sinks, links, or sources may connect. Users name the hosts, so without a check they could reach services
 * that only the hub can reach (server-side request forgery).
 *
 * The settings `sink_allowed_hosts`, `link_allowed_hosts` and `source_allowed_hosts` list host names, `*.` with a domain, `*`, addresses, and networks:
 *
 *   address                                               | allowed if the list contains
 *   ------------------------------------------------------+--------------------------------------------------------
 *   public                                                | the host name, its domain, `*`, the address or a network
 *   private, loopback, link-local, metadata, multicast, … | the address or a network of it
 *
 * A host is allowed only if all its addresses are. `lookup` resolves a name for a connection and checks the result, so
 * the connection uses exactly the addresses that were checked, whatever the name server answers later.
 */
export class OutgoingTargets {
  readonly #names = new Set<string>();
  readonly #domains: string[] = [];
  readonly #networks = new BlockList();
  readonly #setting: AllowedHostsSetting;
  readonly #resolve: Resolve;
  #hasNetworks = false;

  /** `resolve` is that of the system by default. */
  constructor(setting: AllowedHostsSetting, allowed: readonly string[], resolve: Resolve = systemLookup as Resolve) {
    this.#setting = setting;
    this.#resolve = resolve;
    for (const entry of allowed) this.#allow(entry.toLowerCase());
  }

  /**
   * Returns why a host, as the host name of a URL, must not be a target; undefined if its addresses decide, or if it is
   * an allowed address.
   */
  whyNotHost(hostname: string): string | undefined {
    const host = plainHost(hostname);
    if (isIP(host) !== 0) return this.#whyNotAddress(host, host);
    if (this.#hasNetworks || this.#isNamed(host)) return undefined;
    return `host "${host}" is not in ${this.#setting}`;
  }

  /** Resolves a host name for a connection. Fails if the name has an address that is not allowed. */
  readonly lookup = (hostname: string, options: LookupOptions, done: LookupDone): void => {
    this.#resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const host = plainHost(hostname);
      const why = error ?? addresses.map(({ address }) => this.#whyNotAddress(address, host)).find(Boolean);
      const [first] = addresses ?? [];
      if (why instanceof Error) done(why, []);
      else if (why !== undefined) done(new TargetRefused(why), []);
      else if (first === undefined) done(new Error(`host "${host}" has no address`), []);
      else if (options.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };

  /** Resolves a host to an allowed address. Rejects with a TargetRefused, or with the error of the name server. */
  resolve(hostname: string): Promise<string> {
    const host = plainHost(hostname);
    const why = this.whyNotHost(host);
    if (why !== undefined) return Promise.reject(new TargetRefused(why));
    if (isIP(host) !== 0) return Promise.resolve(host);
    return new Promise((fulfil, reject) => {
      this.lookup(host, {}, (error, address) => (error === null ? fulfil(String(address)) : reject(error)));
    });
  }

  #allow(entry: string): void {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address);
    if (family === 0) {
      if (entry.startsWith('*.')) this.#domains.push(entry.slice(1));
      else this.#names.add(entry);
      return;
    }
    this.#hasNetworks = true;
    this.#networks.addSubnet(address, bits === undefined ? (family === 4 ? 32 : 128) : Number(bits), familyOf(address));
  }

  #isNamed(host: string): boolean {
    return this.#names.has('*') || this.#names.has(host) || this.#domains.some((domain) => host.endsWith(domain));
  }

  #whyNotAddress(address: string, host: string): string | undefined {
    const inner = innermost(address);
    if (this.#networks.check(inner, familyOf(inner)) || this.#networks.check(address, familyOf(address)))
      return undefined;
    const what = host === address ? `address ${address}` : `host "${host}" has the address ${address}, which`;
    if (!isPublic(inner)) return `${what} is not public, and ${this.#setting} does not contain the address`;
    return this.#isNamed(host) ? undefined : `${what} is not in ${this.#setting}`;
  }
}

/** A target that the setting does not allow. */
export class TargetRefused extends Error {
  override name = 'TargetRefused';
  readonly code = 'TARGET_REFUSED';
}

type LookupDone = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** Resolves all addresses of a name, as `lookup` of node:dns. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  done: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

/** Networks of IPv4 that are not public: the special-purpose registry of IANA, multicast, and the host of Azure. */
const NOT_PUBLIC = listOf([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4', '168.63.129.16/32'],
  // Of IPv6 only 2000::/3 is public, without protocol assignments, documentation and 6to4.
  ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
]);
const GLOBAL_UNICAST = listOf(['2000::/3']);

function isPublic(address: string): boolean {
  const family = familyOf(address);
  if (NOT_PUBLIC.check(address, family)) return false;
  return family === 'ipv4' || GLOBAL_UNICAST.check(address, family);
}

/** Prefixes of IPv6 addresses whose last 32 bits are an IPv4 address: mapped, compatible, translated, NAT64. */
const EMBEDDED = ['::ffff:0:0/96', '::/96', '::ffff:0:0:0/96', '64:ff9b::/96'].map((network) => listOf([network]));

/** Returns the IPv4 address in an IPv6 address; any other address unchanged. */
function innermost(address: string): string {
  if (isIP(address) !== 6) return address;
  const plain = address.split('%', 1)[0] as string;
  if (!EMBEDDED.some((list) => list.check(plain, 'ipv6'))) return plain;
  // The URL parser writes all IPv6 addresses in one form, without dots.
  const groups = (URL.parse(`http://[${plain}]`)?.hostname ?? '').slice(1, -1).split(':').slice(-2);
  const [high = 0, low = 0] = groups.map((group) => Number.parseInt(group || '0', 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

/** Returns the host of a URL without brackets and without the dot at its end. */
function plainHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}
