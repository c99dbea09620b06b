import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Makes a function that collects this thread's garbage at once. The engine collects when it allocates: a thread that has
 * worked hard and then rests would keep several times what it needs for as long as it rests.
 */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  // The last resort gives memory back to the system as well.
  return () => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
