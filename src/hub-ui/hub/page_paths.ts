import type { Kind } from './entity_kinds.ts';

/** Path of the page that edits an entity. */
export function editorPath(kind: Kind, id: string): string {
  return `/${kind}/${encodeURIComponent(id)}`;
}

/** Path of the live map on which an entity is selected, and perhaps followed. */
export function mapPath(kind: Kind, id: string, { isFollowed = false } = {}): string {
  return `/?sel=${kind}:${encodeURIComponent(id)}${isFollowed ? '&follow=1' : ''}`;
}

/** Length of the replay before an alert. */
const REPLAY_MS = 30_000;

/**
 * Adds to a path of the map that it plays the history, from 30 s before a time. It is played at five times its speed, on the
 * shortest time bar.
 */
export function replayPath(map: string, atMs: number): string {
  return `${map}&t=${new Date(atMs - REPLAY_MS).toISOString()}&play=1&speed=5&span=600`;
}
