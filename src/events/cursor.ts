import { hubError } from '../errors.ts';
import { show } from '../model/error_value_text.ts';

/**
 * Cursors of the event log. A cursor is the position of an event as text: `ev`, eight hexadecimal digits of the hub's
 * id, the position in base 36, and four characters that detect typing errors, separated by hyphens.
 */
const FORM = /^ev-([0-9a-f]{8})-([0-9a-z]{1,11})-([0-9a-z]{4})$/;
const SUM_RANGE = 36 ** 4;

/** Writes and reads the cursors of one hub. */
export class Cursors {
  readonly #hub: string;

  constructor(hubId: string) {
    this.#hub = hashOf(hubId).toString(16).padStart(8, '0');
  }

  /** Returns the cursor of a position. Reading after it continues with the next position. */
  at(position: number): string {
    const text = `ev-${this.#hub}-${position.toString(36)}`;
    return `${text}-${sumOf(text)}`;
  }

  /** Returns the position of a cursor. Throws HUB_BAD_REQUEST, for the parameter `path`, if it is none of this hub. */
  positionOf(cursor: string, path: string): number {
    const [, hub, position = '', sum] = FORM.exec(cursor) ?? [];
    const isSound = hub !== undefined && sum === sumOf(cursor.slice(0, -5));
    if (!isSound) throw hubError('cursor_unknown', { path, found: show(cursor) });
    if (hub !== this.#hub) throw hubError('cursor_of_other_hub', { path, found: show(cursor) });
    return Number.parseInt(position, 36);
  }
}

function sumOf(text: string): string {
  return (hashOf(text) % SUM_RANGE).toString(36).padStart(4, '0');
}

/** FNV-1a, with the bits mixed once more. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
