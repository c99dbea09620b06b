import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Counts of the events that a target of webhooks has received. */
export interface Webhooks {
  /** Number of different events. */
  readonly events: number;
  /** Events that arrived again. */
  readonly repeated: number;
  /** Events that arrived after a later one of the same object. */
  readonly disordered: number;
}

interface Event {
  readonly id: string;
  readonly subject: string;
  readonly time: string;
}

/** A target of webhook sinks on 127.0.0.1 that counts batches of CloudEvents, or accepts requests and never answers. */
export class WebhookTarget {
  answers = true;
  readonly #server = createServer((request, response) => void this.#take(request, response));
  readonly #ids = new Set<string>();
  /** Time of the last event of each object. */
  readonly #last = new Map<string, string>();
  readonly #unanswered = new Set<ServerResponse>();
  #repeated = 0;
  #disordered = 0;

  static async start(): Promise<WebhookTarget> {
    const target = new WebhookTarget();
    await new Promise<void>((resolve) => void target.#server.listen(0, '127.0.0.1', resolve));
    return target;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  get received(): Webhooks {
    return { events: this.#ids.size, repeated: this.#repeated, disordered: this.#disordered };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }

  /** Closes the connections of the requests that have no answer. */
  hangUp(): void {
    for (const response of this.#unanswered) response.destroy();
    this.#unanswered.clear();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (!this.answers) {
      this.#unanswered.add(response);
      return;
    }
    for (const event of JSON.parse(Buffer.concat(parts).toString()) as readonly Event[]) this.#count(event);
    response.writeHead(204).end();
  }

  #count({ id, subject, time }: Event): void {
    if (this.#ids.has(id)) {
      this.#repeated++;
      return;
    }
    this.#ids.add(id);
    if (time < (this.#last.get(subject) ?? '')) this.#disordered++;
    this.#last.set(subject, time);
  }
}
