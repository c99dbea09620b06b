import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Returns a function that collects this thread's garbage at once. The engine collects when it allocates: a thread that
 * has worked hard and then idles would keep several times the memory that it needs.
 */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  // The last resort also returns memory to the system.
  return () => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
