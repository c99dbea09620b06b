import type { ParsedTracks, ParseRequest } from './tracks_thread.ts';

/** Worker that parses tracks; started on first use, never stopped. */
let thread: Worker | undefined;
let lastKey = 0;
const waiting = new Map<number, (have: ParsedTracks) => void>();

export function readTracks(texts: Omit<ParseRequest, 'key'>): Promise<Omit<ParsedTracks, 'key'>> {
  thread ??= start();
  lastKey++;
  const key = lastKey;
  const request: ParseRequest = { ...texts, key };
  thread.postMessage(request);
  return new Promise((resolve) => waiting.set(key, resolve));
}

function start(): Worker {
  const started = new Worker(new URL('./tracks_thread.ts', import.meta.url), { type: 'module' });
  started.onmessage = ({ data }: MessageEvent<ParsedTracks>) => {
    waiting.get(data.key)?.(data);
    waiting.delete(data.key);
  };
  return started;
}
