import { readFileSync } from 'node:fs';
import type { CDPSession, Page } from 'playwright-core';

/** Seconds of CPU time of the main threads of all pages of a browser. */
async function mainSeconds(session: CDPSession): Promise<number> {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  let ticks = 0;
  for (const { id } of processInfo.filter(({ type }) => type === 'renderer')) {
    const stat = readFileSync(`/proc/${id}/task/${id}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / 100;
}

/**
 * Prints frames per second of a page, the processor time of its main thread, and the fraction of the time in which that thread
 * was busy, as reported by the browser. The busy time includes waiting: for a processor, which the hub and the sender use as
 * well, and for the thread that shows the frames.
 */
export async function reportFrames(
  page: Page,
  session: CDPSession,
  {
    name,
    seconds,
    during,
    more,
  }: {
    readonly name: string;
    readonly seconds: number;
    /** Activity during the measurement, until a time of `performance`. */
    readonly during?: ((page: Page, untilMs: number) => Promise<void>) | undefined;
    /** Additional lines, created at the end. */
    readonly more: (spentSeconds: number) => readonly string[];
  },
): Promise<void> {
  const browser = page.context().browser();
  const ofAll = await browser?.newBrowserCDPSession();
  const secondsBefore = ofAll === undefined ? 0 : await mainSeconds(ofAll);
  const before = await taken(session);
  const startMs = performance.now();
  // A string, because it runs in the page.
  const counted = page.evaluate<{
    readonly times: readonly number[];
    readonly drawn: number;
  }>(`new Promise((resolve) => {
    const times = [];
    const { prototype } = CanvasRenderingContext2D;
    const { clearRect } = prototype;
    // Layers of the map begin a drawing by that. The one of moving objects is drawn most often.
    const drawn = new Map();
    prototype.clearRect = function (...box) {
      drawn.set(this, (drawn.get(this) ?? 0) + 1);
      clearRect.apply(this, box);
    };
    const frame = (at) => {
      times.push(at);
      if (at - times[0] < ${seconds * 1_000}) requestAnimationFrame(frame);
      else {
        prototype.clearRect = clearRect;
        resolve({ times, drawn: Math.max(0, ...drawn.values()) });
      }
    };
    requestAnimationFrame(frame);
  })`);
  await during?.(page, startMs + seconds * 1_000);
  const { times, drawn } = await counted;
  const after = await taken(session);
  const mainMs = ofAll === undefined ? 0 : ((await mainSeconds(ofAll)) - secondsBefore) * 1_000;
  await ofAll?.detach();
  const spentMs = performance.now() - startMs;
  const gaps = times.slice(1).map((at, i) => at - (times[i] ?? at));
  const sorted = gaps.toSorted((a, b) => a - b);
  const at = (share: number): string => `${(sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1)} ms`;
  const busy = (metric: string): string => `${(((after(metric) - before(metric)) * 100_000) / spentMs).toFixed(0)} %`;
  const lines = [
    `frames per second   ${((times.length - 1) / (spentMs / 1_000)).toFixed(1)}, median ${at(0.5)}, 95 % ${at(0.95)}, longest ${at(1)}`,
    `drawn per second    ${(drawn / (spentMs / 1_000)).toFixed(1)}`,
    `processor time      ${((mainMs * 100) / spentMs).toFixed(0)} % of the main thread, ${(mainMs / times.length).toFixed(1)} ms per frame`,
    `main thread busy    ${busy('TaskDuration')} of the time, of which scripts ${busy('ScriptDuration')}`,
    ...more(spentMs / 1_000),
    ...(await countsOf(page)),
  ];
  process.stdout.write(`${[name, ...lines.map((line) => `  ${line}`)].join('\n')}\n`);
}

async function countsOf(page: Page): Promise<readonly string[]> {
  const counts = page.locator('[data-counts]');
  return (await counts.count()) === 0 ? [] : [`on the map          ${await counts.innerText()}`];
}

async function taken(session: CDPSession): Promise<(metric: string) => number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return (name) => metrics.find((metric) => metric.name === name)?.value ?? 0;
}
