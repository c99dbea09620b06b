import { StartupError } from '../errors.ts';
import type { Certificate } from './certificate.ts';
import { type Backend, Front } from './front.ts';
import type { HttpSide } from './http.ts';
import { NativeServer, reasonOf } from './native_server.ts';
import type { PeerSide } from './peers.ts';

/** Where connections come in. */
export interface Door {
  readonly port: number;
  /** Serves another certificate to connections from now on. */
  use(certificate: Certificate): void;
  /** Takes no more connections. */
  stop(): void;
  /** Closes all connections at once. */
  close(): void;
}

export interface DoorOptions {
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
 * Opens the port: the native server has it, or with TLS a front before that. Throws a StartupError that says why it
 * cannot be had.
 */
export async function openDoor({ http, peers, connectionsMax, host, port, tls }: DoorOptions): Promise<Door> {
  const server = new NativeServer({ http, peers, connectionsMax });
  // `localhost` alone would bind only the first of the addresses that the system has for the name.
  const [address, twin] = host === 'localhost' ? ['127.0.0.1', '::1'] : [host];
  if (tls !== undefined) {
    const backend = await openBackend(server);
    return frontDoor(server, new Front({ ...tls, backend, connectionsMax }), { address, twin, port });
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

/** Whoever reaches it can say whose requests it sends: where the system can keep all others out, it does. */
async function openBackend(server: NativeServer): Promise<Backend> {
  if (process.platform === 'win32') return { host: '127.0.0.1', port: await server.listen('127.0.0.1', 0) };
  return { path: await server.listenPrivately() };
}

interface Place {
  readonly address: string;
  readonly twin: string | undefined;
  readonly port: number;
}

async function frontDoor(server: NativeServer, front: Front, { address, twin, port }: Place): Promise<Door> {
  let listening: number;
  try {
    listening = await front.listen(address, port);
  } catch (cause) {
    server.stop();
    throw new StartupError(reasonOf(cause as NodeJS.ErrnoException), { cause });
  }
  // The other of the two addresses is of use, but not needed.
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
