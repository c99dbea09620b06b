import { BlockList, isIPv4 } from 'node:net';
import type { NativeResponse } from './native.ts';

/**
 * Rules for the headers in which reverse proxies report the host and path of the original request. Any client could
 * send them, so only headers from `trusted_proxies` are used.
 */
export interface ForwardedRules {
  /** Addresses and networks of proxies, such as 10.0.0.0/8; `*` for every address. */
  readonly proxies: readonly string[];
  /** Path below which the hub is served, such as /rtls, for proxies that do not strip it; empty for none. */
  readonly basePath: string;
}

/** A request whose headers can be read. */
interface Headed {
  header(name: string): string | undefined;
}

/** Part of the native response that contains the client's address. */
export type Addressed = Pick<NativeResponse, 'getRemoteAddress' | 'getProxiedRemoteAddress'>;

/** Returns the address of the client: 4 or 16 bytes. Behind the TLS front it comes from the PROXY header. */
export type PeerAddress = (response: Addressed) => ArrayBuffer;

const ANY = '*';
/** Valid prefixes: at least one segment, and none that leads upwards or to another host like `//other.example`. */
const PREFIX = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~%@:+-]+)+$/;
const PREFIX_MAX = 200;

export class ForwardedHeaders {
  readonly basePath: string;
  readonly #peerAddress: PeerAddress;
  readonly #trusted: BlockList | undefined;

  constructor({ proxies, basePath }: ForwardedRules, peerAddress: PeerAddress) {
    this.basePath = basePath;
    this.#peerAddress = peerAddress;
    this.#trusted = proxies.includes(ANY) ? undefined : listOf(proxies);
  }

  /** Removes the base path from a path. hot: once per request. */
  localPath(path: string): string {
    const { basePath } = this;
    if (basePath === '' || !path.startsWith(basePath)) return path;
    if (path.length === basePath.length) return '/';
    return path[basePath.length] === '/' ? path.slice(basePath.length) : path;
  }

  /**
   * Returns the path prefix under which the client reaches the hub: the prefix that trusted proxies have stripped, and
   * the base path. A proxy that strips the base path need not report it. `path` is the path as received. hot: once per
   * request.
   */
  prefixOf(request: Headed, response: Addressed, path: string): string {
    const { basePath } = this;
    const header = request.header('x-forwarded-prefix');
    if (header === undefined && basePath === '') return '';
    const isBelowBase = basePath !== '' && this.localPath(path) !== path;
    const taken = this.#takenOff(header, response) ?? (isBelowBase ? '' : basePath);
    return isBelowBase ? taken + basePath : taken;
  }

  /** Returns hosts and ports of the original request, as reported by trusted proxies. */
  hostsOf(request: Headed, response: Addressed): readonly string[] {
    const named = listedIn(request.header('x-forwarded-host'));
    const parameters = (request.header('forwarded') ?? '').split(/[,;]/).flatMap(hostIn);
    const found = [...named, ...parameters];
    if (found.length === 0 || !this.#isTrusted(response)) return [];
    const ports = listedIn(request.header('x-forwarded-port'));
    return [...found, ...found.flatMap((host) => ports.map((port) => `${host}:${port}`))];
  }

  #takenOff(header: string | undefined, response: Addressed): string | undefined {
    if (header === undefined || !this.#isTrusted(response)) return undefined;
    const path = listedIn(header)
      .map((part) => part.replace(/(?<!\/)\/+$/, ''))
      .join('');
    return path === '' || (path.length <= PREFIX_MAX && PREFIX.test(path)) ? path : undefined;
  }

  #isTrusted(response: Addressed): boolean {
    if (this.#trusted === undefined) return true;
    const [address, family] = addressOf(this.#peerAddress(response));
    return address !== '' && this.#trusted.check(address, family);
  }
}

function listOf(proxies: readonly string[]): BlockList {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

function listedIn(header: string | undefined): readonly string[] {
  return (header ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Returns the host of a pair such as `host="hub.example:8443"`, RFC 7239. */
function hostIn(pair: string): readonly string[] {
  const host = /^\s*host\s*=\s*(?:"([^"\\]*)"|([^\s"]+))\s*$/i.exec(pair);
  return host === null ? [] : [host[1] ?? host[2] ?? ''];
}

function addressOf(bytes: ArrayBuffer): readonly [address: string, family: 'ipv4' | 'ipv6'] {
  const octets = [...new Uint8Array(bytes)];
  if (octets.length === 4) return [octets.join('.'), 'ipv4'];
  if (octets.length !== 16) return ['', 'ipv4'];
  const isMapped = octets.slice(0, 10).every((octet) => octet === 0) && octets[10] === 0xff && octets[11] === 0xff;
  if (isMapped) return [octets.slice(12).join('.'), 'ipv4'];
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((octets[2 * i] ?? 0) << 8) | (octets[2 * i + 1] ?? 0)).toString(16),
  );
  return [groups.join(':'), 'ipv6'];
}
