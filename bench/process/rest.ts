import { Agent, request } from 'node:http';

const CONNECTIONS = 64;

/** REST API of the hub, for requests that are not measured. */
export class Rest {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends a request below /hub/v2. A path that begins with two slashes is absolute. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      const asked = request({
        host: '127.0.0.1',
        port: this.#port,
        agent: this.#agent,
        method,
        path: path.startsWith('//') ? path.slice(1) : `/hub/v2${path}`,
        headers: bytes === undefined ? {} : { 'Content-Length': bytes.byteLength },
      });
      asked.on('error', reject);
      asked.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (more: string) => {
          text += more;
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      asked.end(bytes);
    });
  }

  /** Creates entities concurrently. Throws the first response that is not 201. */
  async createAll(path: string, entities: Iterable<object>): Promise<number> {
    const waiting = entities[Symbol.iterator]();
    let created = 0;
    const worker = async (): Promise<void> => {
      for (let next = waiting.next(); next.done !== true; next = waiting.next()) {
        const { status, text } = await this.call('POST', path, next.value);
        if (status !== 201) throw new Error(`Cannot create at ${path}: answered ${status}: ${text}`);
        created++;
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
    return created;
  }

  /** The hub's counters by name. Those with labels are summed. */
  async metrics(): Promise<ReadonlyMap<string, number>> {
    const { text } = await this.call('GET', '//metrics');
    const sums = new Map<string, number>();
    for (const line of text.split('\n')) {
      const found = /^(\w+)(?:\{[^}]*\})? (\S+)/.exec(line);
      if (found !== null) sums.set(found[1] as string, (sums.get(found[1] as string) ?? 0) + Number(found[2]));
    }
    return sums;
  }

  close(): void {
    this.#agent.destroy();
  }
}
