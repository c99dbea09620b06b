/** Formats values and their paths for messages. Separate from check.ts, so that worker threads need no schemas. */

/**
 * Returns the path `locations[3].position.coordinates[1]`, given the root `locations` and the segments 3, position,
 * coordinates, 1.
 */
export function pathOf(root: string, segments: readonly string[]): string {
  let path = root;
  for (const segment of segments) {
    if (/^\d+$/.test(segment)) path += `[${segment}]`;
    else path += path === '' ? segment : `.${segment}`;
  }
  return path;
}

const SHOWN_MAX = 80;

/** Returns a value as JSON for messages, shortened to 80 characters. Reads only as much of the value as needed. */
export function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : appendValue('', value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX - 3)}...` : text;
}

/** Appends the JSON of a value to `text`, or only its beginning if that suffices. */
function appendValue(text: string, value: unknown): string {
  if (typeof value === 'string') return text + JSON.stringify(value.slice(0, SHOWN_MAX + 1));
  if (typeof value !== 'object' || value === null || serializesItself(value))
    return text + (JSON.stringify(value) ?? 'null');
  return Array.isArray(value) ? appendArray(`${text}[`, value) : appendObject(`${text}{`, value);
}

/** Whether a value, such as an ExactNumber, has a toJSON method. Members of JSON may also have this name. */
function serializesItself(value: object): boolean {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

function appendArray(start: string, values: readonly unknown[]): string {
  let text = start;
  for (let i = 0; i < values.length && text.length <= SHOWN_MAX; i++)
    text = appendValue(i === 0 ? text : `${text},`, values[i]);
  return `${text}]`;
}

function appendObject(start: string, value: object): string {
  let text = start;
  for (const name in value) {
    if (text.length > SHOWN_MAX) break;
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined || !Object.hasOwn(value, name)) continue;
    text = appendValue(`${appendValue(text === start ? text : `${text},`, name)}:`, member);
  }
  return `${text}}`;
}
