import { messageOf } from '../errors.ts';
import type { Source, SourceStatus } from '../model/source.ts';
import { formatTime } from '../model/time.ts';
import type { Connector, ConnectorDeps, ConnectorEvents, OpenConnector } from './connector.ts';
import type { Intake } from './intake.ts';

export interface SourceRunnerDeps extends ConnectorDeps {
  /** Wall-clock time. */
  now(): number;
  random(): number;
  warn(message: string, facts: object): void;
  info(message: string, facts: object): void;
  /** Opens connectors; that of the source's kind by default. */
  readonly open?: OpenConnector;
}

const [FIRST_RETRY_MS, LAST_RETRY_MS] = [1000, 60_000] as const;

/** Returns the delay before the next attempt after that many failures in sequence. `random` is in [0, 1). */
export function retryDelayMs(failures: number, random: number): number {
  const delayMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(30, failures - 1));
  return Math.round(delayMs * (0.5 + random / 2));
}

/**
 * Keeps the connection of one source:
 *
 *   connecting ──opened──▶ receiving ──failed──▶ failing ──delay──▶ connecting
 *        └─────failed──────────────────────────────▲
 *
 * The delay doubles with each failure until a payload arrives. So a server that accepts connections and closes them is
 * not called at a high rate.
 */
export class SourceRunner {
  readonly #source: Source;
  readonly #intake: Intake;
  readonly #deps: SourceRunnerDeps;
  #state: 'connecting' | 'receiving' | 'failing' = 'connecting';
  /** Changes with each connection and with close, so that events of former connections are ignored. */
  #epoch = 0;
  #connector: Connector | undefined;
  #failures = 0;
  #failuresInSequence = 0;
  #error: string | undefined;
  #retryAtMs = 0;
  #cancelRetry: () => void = () => undefined;

  constructor(source: Source, { intake, deps }: { readonly intake: Intake; readonly deps: SourceRunnerDeps }) {
    this.#source = source;
    this.#intake = intake;
    this.#deps = deps;
    this.#connect();
  }

  status(): Pick<SourceStatus, 'state' | 'failures' | 'error' | 'retry_at'> {
    return {
      state: this.#state,
      failures: this.#failures,
      ...(this.#state === 'failing' && { retry_at: formatTime(Math.floor(this.#retryAtMs)) }),
      ...(this.#error !== undefined && { error: this.#error }),
    };
  }

  close(): void {
    this.#epoch++;
    this.#cancelRetry();
    this.#connector?.close();
    this.#connector = undefined;
  }

  #connect(): void {
    const { open = openConnector } = this.#deps;
    const epoch = ++this.#epoch;
    const isCurrent = (): boolean => this.#epoch === epoch;
    this.#state = 'connecting';
    const events: ConnectorEvents = {
      opened: () => {
        if (isCurrent()) this.#opened();
      },
      received: (payload) => {
        if (!isCurrent()) return;
        this.#failuresInSequence = 0;
        const result = this.#intake.accept(payload);
        // The counters of the hub include locations that are lost later.
        if (result.what === 'accepted') result.committed?.catch(() => undefined);
      },
      dropped: (lines) => {
        if (isCurrent()) this.#intake.dropped(lines);
      },
      failed: (why) => {
        if (isCurrent()) this.#failed(why);
      },
    };
    open(this.#source, events, this.#deps).then(
      (connector) => {
        if (isCurrent()) this.#connector = connector;
        else connector.close();
      },
      (error: unknown) => events.failed(messageOf(error)),
    );
  }

  #opened(): void {
    const { name, id } = this.#source;
    if (this.#error !== undefined) this.#deps.info('A source is connected again', { source: name, id });
    this.#state = 'receiving';
    this.#error = undefined;
  }

  #failed(why: string): void {
    const { now, random, schedule, warn } = this.#deps;
    const { name, id } = this.#source;
    // One line per outage.
    if (this.#failuresInSequence === 0) warn('A source cannot be reached', { source: name, id, error: why });
    this.#epoch++;
    this.#connector = undefined;
    this.#failures++;
    this.#failuresInSequence++;
    this.#state = 'failing';
    this.#error = why;
    const delayMs = retryDelayMs(this.#failuresInSequence, random());
    this.#retryAtMs = now() + delayMs;
    this.#cancelRetry = schedule(delayMs, () => this.#connect());
  }
}

/** Opens the connector of a source, whose code is loaded with its first use. */
const openConnector: OpenConnector = async (source, events, deps) => {
  switch (source.kind) {
    case 'mqtt':
      return (await import('./mqtt.ts')).openMqtt(source, events, deps);
    case 'tcp':
      return (await import('./tcp.ts')).openTcp(source, events, deps);
    case 'udp':
      return (await import('./udp.ts')).openUdp(source, events);
    case 'websocket':
      return (await import('./websocket.ts')).openWebSocket(source, events, deps);
    case 'poll':
      return (await import('./poll.ts')).openPoll(source, events, deps);
    case 'http':
      throw new Error('Cannot connect a source of kind http: it posts to the hub');
  }
};
