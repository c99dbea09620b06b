import type { Kind } from './entity_kinds.ts';

/** Path of the page that edits an entity. */
export function editorPath(kind: Kind, id: string): string {
  return `/${kind}/${encodeURIComponent(id)}`;
}

/** Path of the live map on which an entity is selected, and perhaps followed. */
export function mapPath(kind: Kind, id: string, { isFollowed = false } = {}): string {
  return `/?sel=${kind}:${encodeURIComponent(id)}${isFollowed ? '&follow=1' : ''}`;
}
