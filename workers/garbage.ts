import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Returns a function that collects the garbage of this thread immediately. The engine collects only on allocation, so a
 * thread that has worked hard and then idles would retain several times the memory that it needs.
 */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  // The flavor `last-resort` also returns memory to the system.
  return () => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
