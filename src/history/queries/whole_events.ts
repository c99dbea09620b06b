import { dirname } from 'node:path';
import { referredProperties } from '../fence_properties.ts';
import type { HistoryFile } from '../files.ts';

/** A list of events ends before it is larger than that, in characters, and at the latest after its first event. */
const CHARACTERS_MAX = 32 << 20;

/** Events as they were published, with the long properties of their fences; as many as an answer may have. */
export function wholeEvents(
  rows: readonly Readonly<Record<string, unknown>>[],
  files: readonly HistoryFile[],
  limit: number,
): readonly string[] {
  const folder = folderOf(files);
  const read = new Map<string, string | undefined>();
  const events: string[] = [];
  let characters = 0;
  for (const { event, properties } of rows.slice(0, limit)) {
    const column = String(properties ?? '');
    if (!read.has(column)) read.set(column, referredProperties(folder, column));
    const json = read.get(column);
    // The event is an object with members, and lacks the properties that its row refers to.
    const whole = json === undefined ? String(event) : `${String(event).slice(0, -1)},"properties":${json}}`;
    characters += whole.length;
    if (events.length > 0 && characters > CHARACTERS_MAX) break;
    events.push(whole);
  }
  return events;
}

/** The folder of the history: an hour's file is four levels below it, and a file with rows of another hub two. */
function folderOf(files: readonly HistoryFile[]): string {
  const path = files[0]?.path ?? '';
  const above = dirname(dirname(path));
  return /[\\/]date=[^\\/]*$/.test(above) ? dirname(dirname(above)) : above;
}
