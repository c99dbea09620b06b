import type { CDPSession, Page } from 'playwright-core';

/** Memory of a page after a garbage collection. */
interface Held {
  /** JavaScript objects of the page. */
  readonly heapMb: number;
  /** JavaScript objects of its workers. */
  readonly threadsMb: number;
  readonly nodes: number;
  readonly listeners: number;
}

const MINUTE_MS = 60_000;
const COLUMNS = [
  ['heap MB', ({ heapMb }) => heapMb],
  ['threads MB', ({ threadsMb }) => threadsMb],
  ['DOM nodes', ({ nodes }) => nodes],
  ['listeners', ({ listeners }) => listeners],
] as const satisfies readonly (readonly [string, (held: Held) => number])[];
/** `HeapProfiler.collectGarbage` waits until a page has nothing to draw, which may take minutes on a busy machine. */
const COLLECT = { expression: 'gc()' };
/** Browser flag that enables it. */
export const COLLECTING = '--js-flags=--expose-gc';
/** Maximum average growth from the middle third to the last. The first third fills caches. */
const GROWTH_MAX = 1.05;

/** Prints the memory of a page each minute, and at the end whether it is flat. Returns whether all values are. */
export async function watchMemory(
  page: Page,
  {
    minutes,
    more,
  }: {
    readonly minutes: number;
    /** Additional columns of a line. */
    readonly more: () => Promise<string>;
  },
): Promise<boolean> {
  if (!(minutes >= 3)) throw new Error(`Cannot tell whether it stays flat: 3 minutes are the least, found ${minutes}`);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const threads = await Threads.of(session);
  const startMs = performance.now();
  const all: Held[] = [];
  process.stdout.write(`minute  ${COLUMNS.map(([name]) => name.padStart(10)).join('  ')}\n`);
  for (let minute = 1; minute <= minutes; minute++) {
    await page.waitForTimeout(Math.max(0, startMs + minute * MINUTE_MS - performance.now()));
    const held = await heldNow(session, threads);
    all.push(held);
    const numbers = COLUMNS.map(([, of]) => textOf(of(held)).padStart(10));
    process.stdout.write(`${String(minute).padStart(6)}  ${numbers.join('  ')}  ${await more()}\n`);
  }
  const third = Math.floor(all.length / 3);
  const grown = COLUMNS.map(([name, of]) => {
    const [middle, last] = [all.slice(third, 2 * third), all.slice(-third)].map((held) => mean(held.map(of)));
    const growth = (last ?? 0) / (middle || 1);
    const isFlat = growth <= GROWTH_MAX;
    process.stdout.write(`${isFlat ? 'flat' : 'GROWS'}  ${name}: last third by middle third ${growth.toFixed(3)}\n`);
    return !isFlat;
  });
  return !grown.includes(true);
}

async function heldNow(session: CDPSession, threads: Threads): Promise<Held> {
  // The second collection frees objects whose finalizers ran in the first.
  for (let i = 0; i < 2; i++) await session.send('Runtime.evaluate', COLLECT);
  const { metrics } = await session.send('Performance.getMetrics');
  const metric = (name: string): number => metrics.find((each) => each.name === name)?.value ?? 0;
  return {
    heapMb: metric('JSHeapUsedSize') / 1e6,
    threadsMb: (await threads.heapBytes()) / 1e6,
    nodes: metric('Nodes'),
    listeners: metric('JSEventListeners'),
  };
}

/** The workers of a page, each of which reports separately. */
class Threads {
  readonly #session: CDPSession;
  readonly #ids = new Set<string>();
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #asked = 0;

  private constructor(session: CDPSession) {
    this.#session = session;
  }

  static async of(session: CDPSession): Promise<Threads> {
    const threads = new Threads(session);
    session.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
      if (targetInfo.type === 'worker') threads.#ids.add(sessionId);
    });
    session.on('Target.detachedFromTarget', ({ sessionId }) => threads.#ids.delete(sessionId));
    session.on('Target.receivedMessageFromTarget', ({ message }) => {
      const { id, result } = JSON.parse(message) as { readonly id?: number; readonly result?: unknown };
      if (id === undefined) return;
      threads.#waiting.get(id)?.(result);
      threads.#waiting.delete(id);
    });
    await session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
    return threads;
  }

  async heapBytes(): Promise<number> {
    let bytes = 0;
    for (const id of this.#ids) {
      await this.#ask(id, 'Runtime.evaluate', COLLECT);
      bytes += ((await this.#ask(id, 'Runtime.getHeapUsage')) as { readonly usedSize: number }).usedSize;
    }
    return bytes;
  }

  async #ask(sessionId: string, method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#asked;
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    await this.#session.send('Target.sendMessageToTarget', {
      sessionId,
      message: JSON.stringify({ id, method, params }),
    });
    return answer;
  }
}

function textOf(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
