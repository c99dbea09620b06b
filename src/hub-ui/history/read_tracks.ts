import type { HaveRead, ToRead } from './tracks_thread.ts';

/** Worker that parses tracks; started on first use, never stopped. */
let thread: Worker | undefined;
let lastKey = 0;
const waiting = new Map<number, (have: HaveRead) => void>();

export function readTracks(texts: Omit<ToRead, 'key'>): Promise<Omit<HaveRead, 'key'>> {
  thread ??= start();
  lastKey++;
  const key = lastKey;
  const asked: ToRead = { ...texts, key };
  thread.postMessage(asked);
  return new Promise((resolve) => waiting.set(key, resolve));
}

function start(): Worker {
  const started = new Worker(new URL('./tracks_thread.ts', import.meta.url), { type: 'module' });
  started.onmessage = ({ data }: MessageEvent<HaveRead>) => {
    waiting.get(data.key)?.(data);
    waiting.delete(data.key);
  };
  return started;
}
