import { hubError, type HubError } from '../errors.ts';
import type { TObject, TSchema } from 'typebox';
import { booleanOf } from '../model/boolean.ts';
import { show } from '../model/error_value_text.ts';

/**
 * Parses the parameters of a route from a query string. Unknown ones are ignored, or rejected with `isExact`; of
 * duplicates the first one counts. Throws HUB_BAD_REQUEST naming the parameter and its value.
 */
export function parseQuery(
  text: string,
  schema: TObject,
  { isExact = false }: { readonly isExact?: boolean } = {},
): Record<string, string | boolean> {
  const parameters: Record<string, string | boolean> = {};
  if (text === '') return parameters;
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (!Object.hasOwn(schema.properties, name)) {
      if (isExact && pair !== '') throw unknownParameter(name, schema);
      continue;
    }
    if (Object.hasOwn(parameters, name)) continue;
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1));
    parameters[name] = isBoolean(schema.properties[name]) ? toBoolean(name, value) : value;
  }
  return parameters;
}

function unknownParameter(name: string, { properties }: TObject): HubError {
  const known = Object.keys(properties).join(', ') || 'none';
  return hubError('unknown_parameter', { path: show(name), allowed: known });
}

function isBoolean(schema: TSchema | undefined): boolean {
  return (schema as { readonly type?: unknown } | undefined)?.type === 'boolean';
}

function toBoolean(name: string, value: string): boolean {
  const read = value === '' ? true : booleanOf(value);
  if (read !== undefined) return read;
  throw hubError('not_a_boolean', { path: name, found: show(value) });
}

function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw hubError('not_percent_encoded', { path: 'query', found: show(text) }, { cause });
  }
}
