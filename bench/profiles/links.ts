import { setTimeout as delay } from 'node:timers/promises';
import type { ListenerCommands } from '../listen/listener.ts';
import { offsetOfDay } from '../process/clock.ts';
import { BenchHub } from '../process/hub.ts';
import { Line } from '../process/line.ts';
import { cpuSeconds } from '../process/proc.ts';
import { Remote } from '../process/remote.ts';
import { Rest } from '../process/rest.ts';
import type { Result } from '../report/result.ts';
import { commandOf, profiling } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';

/** Duration of the load, and of the outage after it. */
const SECONDS = 60;
/** Locations per second that each hub receives from its own providers. */
const RATE = 1000;
const PER_MESSAGE = 20;
const PROVIDERS = 500;
const HUBS = ['a', 'b', 'c'] as const;
const LISTENER = new URL('../listen/listener.ts', import.meta.url);
const LOOK_MS = 50;
const SETTLES_MS = 10_000;
const EQUAL_MS = 60_000;
const DEGREES_PER_STEP = 1e-5;

interface Place {
  readonly provider_id: string;
  readonly timestamp_generated: string;
  readonly position: { readonly coordinates: readonly number[] };
}

/** Three hubs, each of which is linked to both others. */
export const LINKS: Profile = {
  name: 'links',
  summary:
    'a triangle of hubs, 1,000 locations/s each: lost and repeated locations, and a hub that is cut off for a minute',
  async run(asked: Asked): Promise<Result> {
    const triangle = await Triangle.open(asked);
    try {
      return await measured(triangle, asked);
    } finally {
      await triangle.close();
    }
  },
};

async function measured(triangle: Triangle, asked: Asked): Promise<Result> {
  const { rate = RATE, seconds = SECONDS } = asked;
  asked.progress(`sending ${rate}/s to each hub for ${seconds} s`);
  const cpuBefore = triangle.cpuSeconds();
  const sent = await triangle.send({ rate, seconds });
  const received = await triangle.settled(HUBS.length * sent);
  const cpu = triangle.cpuSeconds() - cpuBefore;
  asked.progress(`sending while hub c is cut off, for ${seconds} s`);
  triangle.cutOff();
  const during = await triangle.send({ rate, seconds });
  triangle.mend();
  asked.progress('comparing the last locations');
  const equalMs = await triangle.equalAfter();
  const all = HUBS.length * sent;
  return {
    profile: 'links',
    command: commandOf('links', asked),
    offered_per_s: HUBS.length * rate,
    accepted_per_s: (HUBS.length * sent) / seconds,
    seen_per_s: Math.min(...received) / seconds,
    hub_cpu_s: cpu,
    lost: received.reduce((sum, count) => sum + Math.max(0, all - count), 0),
    more: {
      repeated: received.reduce((sum, count) => sum + Math.max(0, count - all), 0),
      sent_while_cut: HUBS.length * during,
      equal_after_ms: equalMs,
      hub_us_per_location: (1e6 * cpu) / (HUBS.length * all),
    },
  };
}

class Triangle {
  readonly #hubs: readonly BenchHub[];
  readonly #rests: readonly Rest[];
  readonly #listener = new Remote<ListenerCommands>(LISTENER, [String(offsetOfDay())]);
  /** Lines of the last hub to the others, and of the others to it. */
  readonly #lines: Line[] = [];
  readonly #providers: number;
  #steps = 0;

  private constructor(hubs: readonly BenchHub[], providers: number) {
    this.#hubs = hubs;
    this.#rests = hubs.map(({ port }) => new Rest(port));
    this.#providers = providers;
  }

  static async open(asked: Asked): Promise<Triangle> {
    const settings = { link_allowed_hosts: '127.0.0.1' };
    const hubs: BenchHub[] = [];
    for (const _ of HUBS) hubs.push(await BenchHub.start({ settings, nodeArgs: profiling(asked) }));
    const triangle = new Triangle(hubs, Math.ceil(PROVIDERS * asked.scale));
    try {
      await triangle.#connect();
      return triangle;
    } catch (error) {
      await triangle.close();
      throw error;
    }
  }

  cpuSeconds(): number {
    return this.#hubs.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  }

  /** Sends locations to each hub, of its own providers. Returns how many each was sent. */
  async send({ rate, seconds }: { rate: number; seconds: number }): Promise<number> {
    const everyMs = (1000 * PER_MESSAGE) / rate;
    const fromMs = performance.now();
    const messages = Math.floor((rate * seconds) / PER_MESSAGE);
    const answers: Promise<unknown>[] = [];
    for (let message = 0; message < messages; message++) {
      await delay(Math.max(0, fromMs + message * everyMs - performance.now()));
      this.#steps++;
      answers.push(...HUBS.map((name, index) => this.#put(index, name, message)));
    }
    await Promise.all(answers);
    return messages * PER_MESSAGE;
  }

  /** Returns the numbers of locations that the hubs have published, when each has all, or no more arrive. */
  async settled(all: number): Promise<readonly number[]> {
    const untilMs = performance.now() + SETTLES_MS;
    for (;;) {
      const received = await this.#listener.ask('received', undefined);
      const counts = HUBS.map((name) => received[name]?.objects ?? 0);
      if (performance.now() > untilMs) return counts;
      // Locations that come twice would arrive later than those that come once.
      await delay(counts.every((count) => count >= all) ? SETTLES_MS / 5 : LOOK_MS);
      if (counts.every((count) => count >= all)) {
        const again = await this.#listener.ask('received', undefined);
        return HUBS.map((name) => again[name]?.objects ?? 0);
      }
    }
  }

  /** Cuts the links from and to the last hub. */
  cutOff(): void {
    for (const line of this.#lines) line.cut();
  }

  mend(): void {
    for (const line of this.#lines) line.mend();
  }

  /** Milliseconds until all hubs have the same last location of each provider; NaN if they never do. */
  async equalAfter(): Promise<number> {
    const fromMs = performance.now();
    while (performance.now() - fromMs < EQUAL_MS) {
      const places = await Promise.all(this.#rests.map(placesAt));
      if (places.every((text) => text === places[0])) return performance.now() - fromMs;
      await delay(LOOK_MS);
    }
    return Number.NaN;
  }

  async close(): Promise<void> {
    for (const rest of this.#rests) rest.close();
    for (const line of this.#lines) line.close();
    await this.#listener.stop();
    await Promise.all(this.#hubs.map((hub) => hub.stop()));
  }

  async #connect(): Promise<void> {
    for (const [from, rest] of this.#rests.entries()) {
      const links: object[] = [];
      for (const [to, { port }] of this.#hubs.entries()) {
        if (to === from) continue;
        const isLast = Math.max(from, to) === HUBS.length - 1;
        const line = isLast ? await Line.open(port) : undefined;
        if (line !== undefined) this.#lines.push(line);
        links.push({ name: `to ${HUBS[to]}`, url: `http://127.0.0.1:${line?.port ?? port}/v2` });
      }
      await rest.createAll('/links', links);
      const group = { name: HUBS[from] as string, topic: 'location_updates', params: [{}] };
      await this.#listener.ask('subscribe', { port: this.#hubs[from]?.port as number, group });
    }
    // A location of each provider shows that all links are connected.
    const primed = await this.send({ rate: RATE, seconds: this.#providers / RATE });
    const untilMs = performance.now() + EQUAL_MS;
    while ((await this.settled(HUBS.length * primed)).some((count) => count < HUBS.length * primed)) {
      if (performance.now() > untilMs) throw new Error('Cannot run the profile: the hubs have not connected');
    }
    for (const [index, name] of HUBS.entries()) {
      await this.#listener.ask('close', { name });
      const group = { name, topic: 'location_updates', params: [{}] };
      await this.#listener.ask('subscribe', { port: this.#hubs[index]?.port as number, group });
    }
  }

  async #put(index: number, name: string, message: number): Promise<void> {
    const timestamp = new Date().toISOString();
    const locations = Array.from({ length: PER_MESSAGE }, (_, i) => {
      const number = (message * PER_MESSAGE + i) % this.#providers;
      const coordinates = [8 + index + number * 1e-3, 50 + this.#steps * DEGREES_PER_STEP];
      return {
        ...{ provider_id: `${name}${number}`, provider_type: 'uwb', source: 'bench', crs: 'EPSG:4326' },
        timestamp_generated: timestamp,
        position: { type: 'Point', coordinates },
      };
    });
    const { status, text } = await (this.#rests[index] as Rest).call('PUT', '/providers/locations', locations);
    if (status !== 204) throw new Error(`Cannot send locations to hub ${name}: answered ${status}: ${text}`);
  }
}

/** Last locations at a hub, as text. */
async function placesAt(rest: Rest): Promise<string> {
  const { text } = await rest.call('GET', '/providers/locations');
  const places = JSON.parse(text) as readonly Place[];
  return places
    .map(({ provider_id: id, timestamp_generated: at, position }) => `${id} ${at} ${position.coordinates.join(' ')}`)
    .sort()
    .join('\n');
}
