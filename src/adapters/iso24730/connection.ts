import type { Socket } from 'node:net';
import { HubError, messageOf } from '../../errors.ts';
import type { EachResult } from '../../ingest/ingest.ts';
import type { Location, ProviderType } from '../../model/location.ts';
import { formatTime } from '../../model/time.ts';
import { ThrottledWarning, type SourceLog } from '../log_throttle.ts';
import type { ConnectionStatus } from './connection_status.ts';
import { Noise } from './noise.ts';
import { newLineCounts, RtlsStreamReader } from './reader.ts';

/**
 * States of a connection to an RTLS server. The hub connects and reads, the server sends. The hub reconnects as long as
 * it runs.
 *
 *     idle ──start──▶ connecting ──connect──▶ open
 *                       ▲    │                 │
 *                  due  │    │ error, 10 s     │ error, close, silence
 *                       │    ▼                 │
 *                      waiting ◀───────────────╯        close() leads to closed from every state
 *
 * The delay grows with each consecutive failure, from 1 s to 30 s. A message of the protocol resets it; a successful
 * connect does not, since a server may accept and close immediately. A connection is silent if no bytes arrive;
 * KeepAlive announces how long silence may last.
 */
type State =
  | { readonly at: 'idle' | 'closed' }
  | { readonly at: 'connecting'; readonly socket: Socket; readonly cancel: Cancel }
  | Open
  | { readonly at: 'waiting'; readonly cancel: Cancel };

interface Open {
  readonly at: 'open';
  readonly socket: Socket;
  readonly reader: RtlsStreamReader;
  readonly sinceMs: number;
  lastByteMs: number;
  silenceMaxMs: number;
  cancelWatch: Cancel;
  cancelRest: Cancel;
}

type Cancel = () => void;

export interface ConnectionSettings {
  readonly host: string;
  readonly port: number;
  readonly providerType: ProviderType;
  /** Id or foreign id of the zone whose coordinates the server sends. */
  readonly source: string;
}

/** Services of the hub that a connection uses. */
export interface ConnectionNeeds {
  /** Delivers each valid location. Throws HUB_UNAVAILABLE if the hub is at capacity. */
  deliver(locations: readonly Location[]): EachResult;
  dial(address: { readonly host: string; readonly port: number }): Socket;
  /** Returns monotonic time in milliseconds. */
  now(): number;
  timeOfDay(runningMs: number): number;
  schedule(delayMs: number, callback: () => void): Cancel;
  /** Returns a random number in [0, 1). */
  random(): number;
  readonly log: SourceLog;
}

const CONNECT_MAX_MS = 10_000;
/** Maximum silence before the first KeepAlive, since an idle site sends nothing. */
const SILENCE_MAX_MS = 60_000;
/** Upper limit of an announced silence, since timers are limited to 24 days. */
const SILENCE_LONGEST_MS = 86_400_000;
/** Interval in which reading pauses while the hub is at capacity. */
const REST_MS = 100;

const nothing = (): void => undefined;

export class RtlsConnection {
  readonly #settings: ConnectionSettings;
  readonly #needs: ConnectionNeeds;
  readonly #address: string;
  readonly #counts = newLineCounts();
  readonly #noise: Noise;
  readonly #lostWarning: ThrottledWarning;
  readonly #refusedWarning: ThrottledWarning;
  #state: State = { at: 'idle' };
  #connects = 0;
  /** Number of consecutive failures without a message of the protocol in between. */
  #failures = 0;
  #updates = 0;
  #lastUpdateMs: number | undefined;
  #rejected = 0;

  constructor(settings: ConnectionSettings, needs: ConnectionNeeds) {
    this.#settings = settings;
    this.#needs = needs;
    const { host, port } = settings;
    this.#address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    this.#noise = new Noise(needs.log, this.#address);
    this.#lostWarning = new ThrottledWarning(needs.log);
    this.#refusedWarning = new ThrottledWarning(needs.log);
  }

  start(): void {
    if (this.#state.at === 'idle') this.#connect();
  }

  /** Closes the connection permanently. */
  close(): void {
    this.#leave();
    this.#state = { at: 'closed' };
  }

  status(): ConnectionStatus {
    const state = this.#state;
    const open = state.at === 'open' ? state : undefined;
    const idle = state.at === 'connecting' ? 'connecting' : 'waiting';
    const { now, timeOfDay } = this.#needs;
    return {
      source: this.#settings.source,
      address: this.#address,
      state: open === undefined ? idle : 'connected',
      connection_established: open && formatTime(timeOfDay(open.sinceMs)),
      reconnects: Math.max(0, this.#connects - 1),
      uptime: open === undefined ? 0 : Math.floor((timeOfDay(now()) - timeOfDay(open.sinceMs)) / 1000),
      number_of_updates: this.#updates,
      last_update_received: this.#lastUpdateMs === undefined ? undefined : formatTime(timeOfDay(this.#lastUpdateMs)),
      last_update_type: 'iso-24730',
      rejected: this.#rejected,
      ...this.#counts,
      declared_fields: open?.reader.declaredFields ?? [],
    };
  }

  #connect(): void {
    const { host, port } = this.#settings;
    const socket = this.#needs.dial({ host, port });
    const cancel = this.#needs.schedule(CONNECT_MAX_MS, () => {
      this.#lost(socket, `no connection within ${CONNECT_MAX_MS / 1000} s`);
    });
    this.#state = { at: 'connecting', socket, cancel };
    socket.on('connect', () => this.#opened(socket));
    socket.on('data', (chunk: Uint8Array) => this.#take(socket, chunk));
    // The listener stays as long as the socket, because an error without a listener would terminate the process.
    socket.on('error', (error: NodeJS.ErrnoException) => this.#lost(socket, error.code ?? error.message));
    socket.on('close', () => this.#lost(socket, 'closed by the server'));
  }

  #opened(socket: Socket): void {
    const state = this.#state;
    if (state.at !== 'connecting' || state.socket !== socket) return;
    state.cancel();
    const nowMs = this.#needs.now();
    const { source, providerType } = this.#settings;
    const open: Open = {
      at: 'open',
      socket,
      reader: new RtlsStreamReader({ source, providerType }, this.#counts, this.#noise),
      sinceMs: nowMs,
      lastByteMs: nowMs,
      silenceMaxMs: SILENCE_MAX_MS,
      cancelWatch: nothing,
      cancelRest: nothing,
    };
    this.#state = open;
    this.#connects++;
    this.#watch(open);
    this.#needs.log.info('Connected to an ISO/IEC 24730-1 server', { address: this.#address, source });
  }

  #take(socket: Socket, chunk: Uint8Array): void {
    const open = this.#state;
    if (open.at !== 'open' || open.socket !== socket) return;
    open.lastByteMs = this.#needs.now();
    const { locations, hasMessage, keepAliveSeconds } = open.reader.push(chunk);
    if (hasMessage) this.#failures = 0;
    if (keepAliveSeconds !== undefined) this.#expect(open, keepAliveSeconds);
    if (locations.length > 0) this.#deliver(open, locations);
  }

  #deliver(open: Open, locations: readonly Location[]): void {
    let taken: EachResult;
    try {
      taken = this.#needs.deliver(locations);
    } catch (error) {
      this.#rejected += locations.length;
      this.#refused(messageOf(error));
      if (error instanceof HubError && error.code === 'HUB_UNAVAILABLE') this.#rest(open);
      return;
    }
    const accepted = locations.length - taken.problems.length;
    this.#rejected += taken.problems.length;
    this.#updates += accepted;
    if (accepted > 0) this.#lastUpdateMs = open.lastByteMs;
    if (taken.problems[0] !== undefined) this.#refused(String(taken.problems[0]));
    taken.committed?.catch((error: unknown) => this.#refused(`not committed: ${String(error)}`));
  }

  #refused(problem: string): void {
    const facts = { address: this.#address, source: this.#settings.source, problem };
    this.#refusedWarning.warn(this.#needs.now(), 'Locations of an ISO/IEC 24730-1 server are refused', facts);
  }

  /** Pauses reading. Data sent in the meantime stays in the bounded buffers of the network. */
  #rest(open: Open): void {
    open.cancelRest();
    open.socket.pause();
    open.cancelRest = this.#needs.schedule(REST_MS, () => open.socket.resume());
  }

  /** Applies a KeepAlive interval announced by the server. */
  #expect(open: Open, seconds: number): void {
    const silenceMaxMs = Math.min(SILENCE_LONGEST_MS, 1000 * Math.max(2 * seconds, seconds + 5));
    if (silenceMaxMs === open.silenceMaxMs) return;
    open.silenceMaxMs = silenceMaxMs;
    open.cancelWatch();
    this.#watch(open);
  }

  /** Checks for silence with a single timer, instead of resetting a timer with each chunk. */
  #watch(open: Open): void {
    const endMs = open.lastByteMs + open.silenceMaxMs;
    open.cancelWatch = this.#needs.schedule(Math.max(1, endMs - this.#needs.now()), () => {
      if (this.#needs.now() < open.lastByteMs + open.silenceMaxMs) this.#watch(open);
      else this.#lost(open.socket, `nothing came for ${open.silenceMaxMs / 1000} s`);
    });
  }

  #lost(socket: Socket, reason: string): void {
    const state = this.#state;
    if ((state.at !== 'connecting' && state.at !== 'open') || state.socket !== socket) return;
    this.#leave();
    const delayMs = backoffMs(this.#failures++, this.#needs.random());
    this.#state = { at: 'waiting', cancel: this.#needs.schedule(delayMs, () => this.#connect()) };
    const facts = { address: this.#address, reason, retryMs: delayMs };
    this.#lostWarning.warn(this.#needs.now(), 'There is no connection to an ISO/IEC 24730-1 server', facts);
  }

  /** Leaves the current state: cancels its timers and closes its socket. */
  #leave(): void {
    const state = this.#state;
    if (state.at === 'connecting' || state.at === 'waiting') state.cancel();
    if (state.at === 'open') {
      state.cancelWatch();
      state.cancelRest();
    }
    if (state.at === 'connecting' || state.at === 'open') state.socket.destroy();
  }
}

const FIRST_MS = 1000;
const MOST_MS = 30_000;
/** Random fraction of the delay, so that many hubs do not reconnect at the same moment. */
const JITTER = 0.25;

/** Returns the delay before the next attempt after a number of consecutive failures. `random` is in [0, 1). */
export function backoffMs(failures: number, random: number): number {
  const delayMs = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(failures, 16));
  return Math.round(delayMs * (1 + JITTER * (2 * random - 1)));
}
