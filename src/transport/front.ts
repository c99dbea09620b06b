import { connect, createServer, type Server, type Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { createServer as createTlsServer, type SecureContextOptions, type Server as TlsServer } from 'node:tls';
import type { Certificate } from './certificate.ts';
import { proxyHeader, refuseProxyHeaders } from './proxy_header.ts';

/** Address of the native server: a socket that only this user can reach, or a loopback port. */
export type Backend = { readonly path: string } | { readonly host: string; readonly port: number };

/**
 * Accepts TLS and HTTP on one port, for a native server that only speaks HTTP:
 *
 *     client ──▶ first byte ── 0x16, a TLS handshake ──▶ TLS ──▶ PROXY header, native server on a socket of its own
 *                    └──────── other bytes ──── allowed ───────▶ PROXY header, native server on a socket of its own
 *                                            └─ otherwise ─────▶ one answer, then closed
 *
 * Forwarding through this thread costs about 8 µs of CPU per request, and TLS another 7.
 */
export interface FrontOptions {
  /** Address of the native server. */
  readonly backend: Backend;
  readonly certificate: Certificate;
  readonly connectionsMax: number;
  /** Returns the response to a request without TLS, given its path; undefined to serve such requests. */
  readonly answerToPlain: ((path: string) => string) | undefined;
}

/** Timeout for the first byte and for the TLS handshake. */
const HELLO_MS = 10_000;
const TLS_HANDSHAKE = 0x16;
/** Maximum number of bytes read of a rejected request. */
const REQUEST_LINE_MAX = 4096;

export class Front {
  readonly #options: FrontOptions;
  readonly #tls: TlsServer;
  readonly #servers: Server[] = [];
  readonly #open = new Set<Socket>();

  constructor(options: FrontOptions) {
    this.#options = options;
    const secure = { handshakeTimeout: HELLO_MS, ALPNProtocols: ['http/1.1'] };
    this.#tls = createTlsServer({ ...contextOf(options.certificate), ...secure }, (socket) => {
      this.#carry(socket, socket.remoteAddress);
    });
    // An aborted handshake is not an error.
    this.#tls.on('tlsClientError', (_error, socket) => socket.destroy());
  }

  /** Listens and resolves to the port. Port 0 selects a free one. Rejects with the system's error. */
  listen(host: string, port: number): Promise<number> {
    const server = createServer({ noDelay: true }, (socket) => this.#greet(socket));
    const { connectionsMax } = this.#options;
    if (Number.isFinite(connectionsMax)) server.maxConnections = connectionsMax;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, exclusive: true }, () => {
        this.#servers.push(server);
        resolve((server.address() as { port: number }).port);
      });
    });
  }

  /** Serves this certificate to new connections. */
  use(certificate: Certificate): void {
    this.#tls.setSecureContext(contextOf(certificate));
  }

  /** Stops accepting connections. */
  stop(): void {
    for (const server of this.#servers) server.close();
  }

  /** Closes open connections. */
  close(): void {
    this.stop();
    for (const socket of this.#open) socket.destroy();
  }

  #greet(socket: Socket): void {
    this.#open.add(socket);
    socket.on('close', () => this.#open.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.setTimeout(HELLO_MS, () => socket.destroy());
    socket.once('data', (first: Buffer) => {
      socket.setTimeout(0);
      socket.pause();
      socket.unshift(first);
      if (first[0] === TLS_HANDSHAKE) this.#tls.emit('connection', socket);
      else if (this.#options.answerToPlain === undefined) this.#carry(socket, socket.remoteAddress);
      else this.#turnAway(socket, this.#options.answerToPlain(pathOf(first)));
    });
  }

  /** Rejects a request. Reads the rest of it, so that the client reads the response. */
  #turnAway(socket: Socket, answer: string): void {
    socket.setTimeout(HELLO_MS);
    socket.resume();
    socket.end(answer);
  }

  #carry(client: Duplex, address: string | undefined): void {
    const backend = connect({ ...this.#options.backend, noDelay: true });
    backend.write(proxyHeader(address ?? '0.0.0.0'));
    // Closing one side closes the other. An aborted connection is not an error.
    pipeline(client, refuseProxyHeaders(), backend, () => undefined);
    pipeline(backend, client, () => client.destroy());
  }
}

/** Returns the path in the request line, as far as the first bytes contain it. */
function pathOf(first: Buffer): string {
  return /^[A-Z]+ ([^ ?\r\n]*)/.exec(first.toString('latin1', 0, REQUEST_LINE_MAX))?.[1] ?? '';
}

/** Returns the TLS context. Like the native server, Node accepts TLS 1.2 and 1.3 by default. */
function contextOf({ certificate, key, dhParams, files: { keyPassword } }: Certificate): SecureContextOptions {
  return {
    cert: certificate,
    key,
    ...(keyPassword === undefined ? {} : { passphrase: keyPassword }),
    ...(dhParams === undefined ? {} : { dhparam: dhParams }),
    minVersion: 'TLSv1.2',
  };
}
