import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface DialOptions {
  readonly url: URL;
  readonly isTls: boolean;
  readonly defaultPort?: number;
  resolve(hostname: string): Promise<string>;
}

/**
 * Opens a TCP or TLS connection to an allowed address of a host. The address is the one that was checked, whatever the
 * name server answers later. A certificate is verified for the host name. Rejects with the reason.
 */
export async function dial({ url, isTls, defaultPort, resolve }: DialOptions): Promise<Socket> {
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const host = await resolve(url.hostname);
  const port = url.port === '' ? (defaultPort ?? 0) : Number(url.port);
  const options = { host, port, keepAlive: true, noDelay: true };
  if (!isTls) return connect(options);
  return connectTls({ ...options, ...(isIP(hostname) === 0 && { servername: hostname }) });
}
