import { openFenceIndex } from '../../../src/fence_index/fence_index.ts';
import { type Digest, type Reader, Recording } from './recording.ts';
import { SCENES } from './scenes.ts';

/** The recorded events, written by `npm run record:events`. */
export const RECORD = new URL('events.json', import.meta.url);

/** By scene and subscription. */
export type Recorded = Readonly<Record<string, Readonly<Record<string, Digest>>>>;

/** Plays a scene to its end. */
export async function played(name: string, reader: Reader): Promise<Recording> {
  const recording = new Recording({ index: await openFenceIndex(), reader });
  SCENES[name]?.(recording);
  return recording;
}

/** Returns the current events in the format of the record. */
export async function recordText(): Promise<string> {
  const $comment = 'Events of each scene and subscription, made by "npm run record:events".';
  const recorded: Record<string, unknown> = { $comment };
  for (const name of Object.keys(SCENES)) recorded[name] = (await played(name, 'scanner')).digests();
  return `${JSON.stringify(recorded, undefined, 2)}\n`;
}
