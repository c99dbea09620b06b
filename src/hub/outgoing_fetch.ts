import { getCACertificates } from 'node:tls';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { StartupError } from '../errors.ts';

/** What requests of the hub to other servers go by. */
export interface OutgoingOptions {
  /** Where `https_proxy` and `no_proxy` are looked for. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** PEM text of a certificate that is trusted beside those that the system trusts. */
  readonly trusted?: string | undefined;
  /** Whether the other server's certificate must be valid; it must when left out. */
  readonly verify?: boolean;
}

/** fetch, as the web knows it, and the end of the connections that it keeps open. */
export interface Outgoing {
  fetch(url: string, init?: { readonly signal?: AbortSignal; readonly headers?: object }): ReturnType<typeof fetch>;
  close(): Promise<void>;
}

/** Never reached through a proxy, whatever no_proxy says. */
const THIS_MACHINE = ['localhost', '127.0.0.1', '0.0.0.0', '::1'];

/**
 * Makes the fetch for requests that leave the hub. HTTPS goes through `https_proxy` (`user:password@host:port`, with or
 * without `http://` before it), but for hosts that end as an entry of `no_proxy` does; plain HTTP goes straight. Throws a
 * StartupError when https_proxy is no address.
 */
export function outgoingFetch({ env, trusted, verify = true }: OutgoingOptions): Outgoing {
  const ca = trusted === undefined ? {} : { ca: [...getCACertificates('default'), trusted] };
  const tls = { ...ca, rejectUnauthorized: verify };
  const agent = new EnvHttpProxyAgent({
    // An empty text keeps the agent from looking for the variable itself, in a form that it cannot read.
    httpProxy: '',
    httpsProxy: proxyAddress(env['https_proxy'] || env['HTTPS_PROXY'] || ''),
    noProxy: [...hosts(env['no_proxy'] || env['NO_PROXY'] || ''), ...THIS_MACHINE].join(','),
    connect: tls,
    requestTls: tls,
  });
  return {
    fetch: (url, init = {}) => fetch(url, { ...init, dispatcher: agent } as Parameters<typeof fetch>[1]),
    close: () => agent.close(),
  };
}

/**
 * The URL of a proxy as it stands in an environment variable: a scheme is added where there is none, and what a user
 * name or password may hold, but a URL may not, is encoded. Empty for an empty text.
 */
export function proxyAddress(text: string): string {
  const written = text.trim();
  if (written === '') return '';
  const [, scheme = 'http', rest = ''] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(.*)$/is.exec(written) ?? [];
  const at = rest.lastIndexOf('@');
  const [user = '', ...password] = rest.slice(0, Math.max(at, 0)).split(':');
  const credentials = at < 0 ? '' : `${encoded(user)}:${encoded(password.join(':'))}@`;
  const url = URL.parse(`${scheme}://${credentials}${rest.slice(at + 1)}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    // The password stays out of the message.
    const shown = JSON.stringify(at < 0 ? written : `***@${rest.slice(at + 1)}`);
    throw new StartupError(`environment: https_proxy: must be [user:password@]host:port, found ${shown}`);
  }
  return url.origin.replace('://', `://${credentials}`);
}

/** The hosts of a list, which may be written as URLs. */
function hosts(list: string): string[] {
  return list
    .split(/[\s,]/)
    .map((entry) => (entry.split('://').at(-1) ?? '').split('/', 1)[0] ?? '')
    .filter((host) => host !== '');
}

/** Percent-encodes a part of a URL; what is encoded already stays. */
function encoded(part: string): string {
  return encodeURIComponent(part).replaceAll(/%25([0-9a-f]{2})/gi, '%$1');
}
