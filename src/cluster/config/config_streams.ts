import { type ClusterContext, pause } from '../context.ts';
import { BusError, type StreamSettings } from '../nats/bus.ts';

export interface ConfigStreamOptions
  extends Pick<ClusterContext, 'bus' | 'name' | 'elapsed' | 'schedule'>,
    Pick<StreamSettings, 'replicas' | 'storage'> {}

const LOOK_AGAIN_MS = 250;

/** Name of the stream of the configuration log. */
export function logStream(name: string): string {
  return `${name}_CONFIG`;
}

/** Name of the stream of its snapshots. */
export function snapshotStream(name: string): string {
  return `${name}_SNAP`;
}

/** Creates the streams of the log if they do not exist. Rejects if they exist with other settings. */
export async function makeConfigStreams(
  options: Pick<ConfigStreamOptions, 'bus' | 'name' | 'replicas' | 'storage'>,
): Promise<void> {
  const { bus, name, replicas, storage } = options;
  await Promise.all([
    bus.makeStream({ name: logStream(name), subjects: [`${name}.cfg`], replicas, storage }),
    bus.makeStream({ name: snapshotStream(name), subjects: [`${name}.snap`], replicas, storage }),
  ]);
}

/**
 * Sequence of the last record. A stream without a leader is missing in the list, so the list is requested again for `catchUpMs`.
 * Rejects with a BusError after that.
 */
export async function endOfLog(
  { bus, name, elapsed, schedule }: ConfigStreamOptions,
  catchUpMs: number,
): Promise<number> {
  const stream = logStream(name);
  for (const untilMs = elapsed() + catchUpMs; elapsed() < untilMs; ) {
    const found = (await bus.streams(stream, `${name}.cfg`)).find((each) => each.name === stream);
    if (found !== undefined) return found.lastSequence;
    await pause({ schedule }, LOOK_AGAIN_MS);
  }
  throw new BusError(`Cannot open the configuration log: stream "${stream}" has had no leader for ${catchUpMs} ms`);
}
