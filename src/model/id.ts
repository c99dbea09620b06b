import { problemOf, type Problem } from '../problem.ts';
import { show } from './error_value_text.ts';

/** Kinds of located objects. An id is unique within a kind. */
export type ObjectKind = 'provider' | 'trackable';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

export function isUuid(text: string): boolean {
  return text.length === 36 && text[8] === '-' && UUID.test(text);
}

/** Normalizes an id for comparison: UUIDs are case-insensitive, all other ids are compared verbatim. */
export function idKey(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id;
}

/** Whether a client means "no id": absent, null, an empty string or the nil UUID. */
export function isUnset(id: unknown): id is undefined | null | '' | typeof NIL_UUID {
  return id === undefined || id === null || id === '' || id === NIL_UUID;
}

/** Control characters of Unicode, which end lines, headers and C strings in programs that receive an id. */
const CONTROL = /\p{Cc}/u;

/** Whether `text` can be an id: it has no control character and no lone surrogate. */
export function isId(text: string): boolean {
  return !CONTROL.test(text) && text.isWellFormed();
}

/** Returns the problem of a string that cannot be an id. */
export function badId(path: string, found: string): Problem {
  return problemOf('control_characters', { path, found: show(found) });
}
