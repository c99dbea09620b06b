import type { OutgoingSocket, SocketEvents } from '../links/link_runner.ts';
import type { Source } from '../model/source.ts';
import type { ReceivedPayload } from './intake.ts';

/** A connection of a source, or a port on which it listens. */
export interface Connector {
  /** Closes it at once. No event follows. */
  close(): void;
}

export interface ConnectorEvents {
  /** It is connected, subscribed, or listening. */
  opened(): void;
  received(payload: ReceivedPayload): void;
  /** Lines were dropped because they are too long. */
  dropped(lines: number): void;
  /** It has failed, or the other side has closed it. Nothing follows. */
  failed(why: string): void;
}

/** A response of a polled server, as far as it is used. */
interface PollResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
}

/** Services of the hub for connectors. */
export interface ConnectorDeps {
  schedule(delayMs: number, callback: () => void): () => void;
  /** Resolves a host to an allowed address. Rejects with the reason if the host has no such address. */
  resolve(hostname: string): Promise<string>;
  /** Returns why the host of a URL must not be a target. */
  whyNotHost(hostname: string): string | undefined;
  /** Sends an HTTP request to an allowed host, if needed through a proxy. */
  fetch(
    url: string,
    request: {
      readonly headers: Readonly<Record<string, string>>;
      readonly signal: AbortSignal;
      readonly redirect: 'error';
    },
  ): Promise<PollResponse>;
  /** Opens a WebSocket to an allowed host. */
  openSocket(url: string, events: SocketEvents, headers: Readonly<Record<string, string>>): Promise<OutgoingSocket>;
}

/** The Authorization header for a source; empty without a password. */
export function authorizationOf({ username, password }: Source): Readonly<Record<string, string>> {
  if (password == null) return {};
  const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return { authorization: username == null ? `Bearer ${password}` : basic };
}

export type OpenConnector = (source: Source, events: ConnectorEvents, deps: ConnectorDeps) => Promise<Connector>;
