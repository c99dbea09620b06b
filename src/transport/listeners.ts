import { StartupError } from '../errors.ts';
import type { Certificate } from './certificate.ts';
import { type Backend, Front } from './front.ts';
import type { HttpSide } from './http.ts';
import { NativeServer, reasonOf } from './native_server.ts';
import type { PeerSide } from './peers.ts';

/** An open port that accepts connections. */
export interface PortListener {
  readonly port: number;
  /** Serves another certificate to new connections. */
  use(certificate: Certificate): void;
  /** Stops accepting connections. */
  stop(): void;
  /** Closes all connections immediately. */
  close(): void;
}

export interface PortListenerOptions {
  readonly http: HttpSide;
  readonly peers: PeerSide;
  readonly connectionsMax: number;
  readonly host: string;
  readonly port: number;
  readonly tls?:
    | { readonly certificate: Certificate; readonly answerToPlain: ((path: string) => string) | undefined }
    | undefined;
}

/**
 * Opens a port. The native server listens on it or, with TLS, a front that forwards connections to the native server.
 * Throws a StartupError with the reason if that fails.
 */
export async function openListener({
  http,
  peers,
  connectionsMax,
  host,
  port,
  tls,
}: PortListenerOptions): Promise<PortListener> {
  const server = new NativeServer({ http, peers, connectionsMax });
  // Binding `localhost` would bind only the first of its addresses.
  const [address, twin] = host === 'localhost' ? ['127.0.0.1', '::1'] : [host];
  if (tls !== undefined) {
    const backend = await openBackend(server);
    return tlsListener(server, new Front({ ...tls, backend, connectionsMax }), { address, twin, port });
  }
  const listening = await server.listen(address, port);
  if (twin !== undefined) await server.listenToo(twin, listening);
  return {
    port: listening,
    use: () => undefined,
    stop: () => server.stop(),
    close: () => server.close(),
  };
}

/**
 * Opens the private socket of the native server. Access is limited, because a process that can reach it can forge
 * client addresses.
 */
async function openBackend(server: NativeServer): Promise<Backend> {
  if (process.platform === 'win32') return { host: '127.0.0.1', port: await server.listen('127.0.0.1', 0) };
  return { path: await server.listenPrivately() };
}

interface Endpoint {
  readonly address: string;
  readonly twin: string | undefined;
  readonly port: number;
}

async function tlsListener(
  server: NativeServer,
  front: Front,
  { address, twin, port }: Endpoint,
): Promise<PortListener> {
  let listening: number;
  try {
    listening = await front.listen(address, port);
  } catch (cause) {
    server.stop();
    throw new StartupError(reasonOf(cause as NodeJS.ErrnoException), { cause });
  }
  // The second address is optional.
  if (twin !== undefined) await front.listen(twin, listening).catch(() => undefined);
  return {
    port: listening,
    use: (certificate) => front.use(certificate),
    stop() {
      front.stop();
      server.stop();
    },
    close() {
      server.close();
      front.close();
    },
  };
}
