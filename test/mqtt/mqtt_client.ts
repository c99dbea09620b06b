import { setTimeout as delay } from 'node:timers/promises';
import mqtt, { type IClientOptions, type IClientPublishOptions, type MqttClient } from 'mqtt';
import type { Event } from '../support/socket_client.ts';

/** A message that was received. */
export interface ReceivedMessage {
  readonly topic: string;
  readonly payload: Event | undefined;
  readonly isRetained: boolean;
  /** Its remaining lifetime, if the sender has set one. */
  readonly lifeSeconds: number | undefined;
}

const WAIT_MS = 15_000;
const LOOK_MS = 20;

/** A client of a broker: a source of locations, and a subscriber. */
export class TestMqttClient {
  readonly received: ReceivedMessage[] = [];
  readonly #client: MqttClient;
  #wake: () => void = () => undefined;

  private constructor(client: MqttClient) {
    this.#client = client;
    client.on('message', (topic, payload, { retain, properties }) => {
      const lifeSeconds = properties?.messageExpiryInterval;
      this.received.push({ topic, payload: parsed(payload.toString()), isRetained: retain, lifeSeconds });
      this.#wake();
    });
  }

  static async open(port: number, options: IClientOptions = {}): Promise<TestMqttClient> {
    const settings = { protocolVersion: 5, host: '127.0.0.1', port, protocol: 'mqtt', ...options } as const;
    return new TestMqttClient(await mqtt.connectAsync(settings));
  }

  async subscribe(...filters: readonly string[]): Promise<void> {
    await this.#client.subscribeAsync([...filters], { qos: 1 });
  }

  /** Resolves when the broker has received it. `qos` is 1 by default. */
  async publish(topic: string, value: unknown, options: IClientPublishOptions = {}): Promise<void> {
    const payload = typeof value === 'string' ? value : JSON.stringify(value);
    await this.#client.publishAsync(topic, payload, { qos: 1, ...options });
  }

  /** Returns the first message that matches, waiting for it if necessary. */
  async next(fits: (received: ReceivedMessage) => boolean): Promise<ReceivedMessage> {
    const untilMs = performance.now() + WAIT_MS;
    for (;;) {
      const found = this.received.find(fits);
      if (found !== undefined) return found;
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) throw new Error(`Not received, but ${this.received.map(({ topic }) => topic).join(', ')}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, leftMs);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
    }
  }

  /** Returns the first message under a topic. */
  on(topic: string): Promise<ReceivedMessage> {
    return this.next((received) => received.topic === topic);
  }

  async close(): Promise<void> {
    await this.#client.endAsync(true);
  }
}

/** Undefined for invalid JSON: the client also receives its own messages. */
function parsed(text: string): Event | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Resolves when the condition holds. Rejects after `waitMs`, which only failing tests reach. */
export async function until(holds: () => Promise<boolean>, waitMs = WAIT_MS): Promise<void> {
  const untilMs = performance.now() + waitMs;
  while (!(await holds())) {
    if (performance.now() > untilMs) throw new Error(`Does not hold: ${holds}`);
    await delay(LOOK_MS);
  }
}
