import { createHash } from 'node:crypto';
import type { MqttHealth } from '../model/health.ts';
import type { BrokerClient, BrokerClientOptions } from './broker_client.ts';
import type { BrokerSettings } from './broker_connection.ts';
import type { Reason } from './inbound.ts';
import type { ThreadCounts } from './messages.ts';

export interface ElectedSubscriptionOptions {
  /** Topic in `mqtt_subscriptions`; empty for a single subscription to all topics of sources. */
  readonly name: string;
  /** Broker settings. The client id is a prefix that all hubs share. */
  readonly broker: BrokerSettings;
  readonly filters: readonly string[];
}

export interface ElectedSubscriptionDeps {
  /** Whether this hub is elected for the subscription. */
  isElected(name: string): boolean;
  /** Creates a client without starting it. */
  open(options: Omit<BrokerClientOptions, 'queueBytesMax' | 'depthMax'>): BrokerClient;
}

/**
 * A subscription to sources that one elected hub of a cluster holds for all hubs. The elected hub is the owner of the
 * partition to which the subscription's name belongs. Every elected hub connects with the same client id, so
 *
 *   - the broker has one session and one order of messages, whichever hub is connected;
 *   - QoS 1 messages that a hub has not acknowledged are delivered to the next hub, before later messages;
 *   - the broker closes the connection of a hub that has been replaced but does not know it yet.
 *
 *     map: this hub ──▶ start ──▶ connected ──(session taken over)──▶ waits, see mqtt_thread.ts
 *     map: another hub ──▶ stop
 */
export class ElectedSubscription {
  readonly #options: ElectedSubscriptionOptions;
  readonly #deps: ElectedSubscriptionDeps;
  readonly #clientId: string;
  readonly #client: BrokerClient;
  #isRunning = false;
  #isClosed = false;
  #changing: Promise<void> | undefined;

  constructor(options: ElectedSubscriptionOptions, deps: ElectedSubscriptionDeps) {
    this.#options = options;
    this.#deps = deps;
    const { name, broker, filters } = options;
    this.#clientId = `${broker.clientId}-sources${name === '' ? '' : `-${shortHash(name)}`}`;
    this.#client = deps.open({
      broker: { ...broker, clientId: this.#clientId },
      subscriptions: filters.map((filter) => ({ filter, qos: 1, getsRetained: false, getsOwn: true })),
      statusTopics: [],
      keepsSession: true,
    });
  }

  get counts(): ThreadCounts {
    return this.#client.counts();
  }

  get refused(): Readonly<Record<Reason, number>> {
    return this.#client.refused;
  }

  /** Re-evaluates the election: subscribes, or leaves the subscription to another hub. */
  elect(): void {
    this.#changing ??= this.#change().finally(() => {
      this.#changing = undefined;
    });
  }

  health(): NonNullable<MqttHealth['subscriptions']>[number] {
    const { isConnected, why } = this.#client.state;
    return {
      client_id: this.#clientId,
      topics: [...this.#options.filters],
      elected: this.#isRunning,
      connected: isConnected,
      ...(this.#isRunning && why !== '' && { problem: why }),
    };
  }

  stopTaking(): void {
    this.#isClosed = true;
    this.#client.stopTaking();
  }

  /** Disconnects. The broker stores the session for the next hub. */
  async close(): Promise<void> {
    this.stopTaking();
    this.elect();
    await this.#changing;
  }

  /** Starts or stops the client until its state matches the election. */
  async #change(): Promise<void> {
    const { isElected } = this.#deps;
    for (;;) {
      const isWanted = !this.#isClosed && isElected(this.#options.name);
      if (isWanted === this.#isRunning) return;
      this.#isRunning = isWanted;
      if (isWanted) this.#client.start();
      else await this.#client.stop();
    }
  }
}

/** Returns a client id suffix for a subscription. Client ids must not contain all characters of topics. */
function shortHash(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 8);
}
