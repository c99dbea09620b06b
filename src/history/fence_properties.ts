import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HistoryFile } from './files.ts';

/**
 * Stores long properties of fences once instead of in every event. An event contains the properties of its fence, so
 * 900 kB of properties would be repeated with each crossing, in every queue and row. Properties of up to
 * LONG_PROPERTIES characters are part of the event. Longer ones are stored in a file `fence_properties/<sha256>.json`
 * in the folder of the history, and the column `properties` of the event contains `{"sha256":"…"}` instead. A file is
 * removed when no event has referred to it for the retention time. If all files exceed FOLDER_BYTES_MAX, the least
 * recently used ones are removed.
 */
export const LONG_PROPERTIES = 4096;
const FOLDER = 'fence_properties';
const FOLDER_BYTES_MAX = 256 << 20;
const REFERENCE = /^\{"sha256":"([0-9a-f]{64})"\}$/;
const SUFFIX = '.json';

/** Returns the name of properties: the SHA-256 of their JSON. */
export function hashOf(json: string): string {
  return createHash('sha256').update(json).digest('hex');
}

/** Returns the reference that replaces long properties in an event. */
export function referenceTo(hash: string): string {
  return `{"sha256":"${hash}"}`;
}

/** Stores properties, or records that an event refers to them. Throws if they cannot be written. */
export function storeFenceProperties(
  folder: string,
  { hash, json, nowMs }: { hash: string; json: string; nowMs: number },
): void {
  const path = join(folder, FOLDER, hash + SUFFIX);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    mkdirSync(join(folder, FOLDER), { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.writing`, json, { mode: 0o600 });
    renameSync(`${path}.writing`, path);
  }
  utimesSync(path, nowMs / 1000, nowMs / 1000);
}

/**
 * Returns the properties to which a column `properties` refers; undefined if it is not a reference, or if the file does
 * not exist.
 */
export function referredProperties(folder: string, column: string): string | undefined {
  const hash = REFERENCE.exec(column)?.[1];
  if (hash === undefined) return undefined;
  try {
    return readFileSync(join(folder, FOLDER, hash + SUFFIX), 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Removes properties to which no event has referred since `sinceMs` and, beyond `bytesMax`, the least recently used
 * ones.
 */
export function tidyFenceProperties(folder: string, sinceMs: number, bytesMax = FOLDER_BYTES_MAX): void {
  const found = readdirSync(join(folder, FOLDER), { withFileTypes: true }).map(({ name }) => {
    const path = join(folder, FOLDER, name);
    const { mtimeMs, size } = statSync(path);
    return { path, mtimeMs, size };
  });
  let bytes = 0;
  for (const { path, mtimeMs, size } of found.sort((a, b) => b.mtimeMs - a.mtimeMs)) {
    bytes += size;
    if (mtimeMs < sinceMs || bytes > bytesMax) rmSync(path, { force: true });
  }
}

/** Maximum number of characters of a list of events. A list contains at least one event, however long. */
const CHARACTERS_MAX = 32 << 20;

/**
 * Returns the published events of rows including the long properties of their fences, as many as a response may
 * contain.
 */
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
    const whole = json === undefined ? String(event) : withProperties(String(event), json);
    characters += whole.length;
    if (events.length > 0 && characters > CHARACTERS_MAX) break;
    events.push(whole);
  }
  return events;
}

/** Adds the properties of the fence to an event, which is a non-empty object. It may have marks of its own. */
function withProperties(event: string, json: string): string {
  const { properties, ...rest } = JSON.parse(event) as { readonly properties?: object };
  if (properties === undefined) return `${event.slice(0, -1)},"properties":${json}}`;
  return JSON.stringify({ ...rest, properties: { ...JSON.parse(json), ...properties } });
}

/**
 * Returns the folder of the history. A file of an hour is four levels below it, a file with rows of another hub two.
 */
function folderOf(files: readonly HistoryFile[]): string {
  const path = files[0]?.path ?? '';
  const above = dirname(dirname(path));
  return /[\\/]date=[^\\/]*$/.test(above) ? dirname(dirname(above)) : above;
}
