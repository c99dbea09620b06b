import { hubError, HubError } from '../errors.ts';
import { booleanOf } from '../model/boolean.ts';
import { badId, isId } from '../model/id.ts';
import { show } from '../model/error_value_text.ts';

/**
 * Conversion of filter values from clients. Some clients can only send strings, so a number or a boolean may be a
 * string. Every function throws HUB_BAD_REQUEST with the name of the parameter.
 */

/** Returns a string. A number is converted to its digits. */
export function asText(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw hubError('not_a_string', where(name, value));
}

/** Returns an id, or another name that is compared with ids. */
export function asId(name: string, value: unknown): string {
  const id = asText(name, value);
  if (isId(id)) return id;
  throw new HubError(badId(`params.${name}`, id));
}

/** Returns a finite number, also from a string. */
export function asNumber(name: string, value: unknown): number {
  const parsed = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof parsed === 'number' && Number.isFinite(parsed)) return parsed;
  throw hubError('not_a_number', where(name, value));
}

/**
 * Returns a boolean, also from a string. As in query parameters, case is ignored, `1` and the empty string are true,
 * and `0` is false.
 */
export function asBoolean(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  const text = String(typeof value === 'object' ? undefined : value);
  const read = text === '' ? true : booleanOf(text);
  if (read !== undefined) return read;
  throw hubError('not_a_boolean', where(name, value));
}

/** Returns one of `words`. */
export function asWord(name: string, value: unknown, words: readonly string[]): string {
  if (typeof value === 'string' && words.includes(value)) return value;
  throw hubError('out_of_choices', { ...where(name, value), allowed: words });
}

/** Returns path and value for an error. Objects are not printed, since they may be nested too deeply for recursion. */
function where(name: string, value: unknown): { readonly path: string; readonly found: string } {
  const found = Array.isArray(value) ? '[]' : typeof value === 'object' && value !== null ? '{}' : show(value);
  return { path: `params.${name}`, found };
}
