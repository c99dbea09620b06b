/** How values and their places are named in messages. Apart from check.ts, so that worker threads need no schemas. */

/** `locations[3].position.coordinates[1]` from the root `locations` and the segments 3, position, coordinates, 1. */
export function pathOf(root: string, segments: readonly string[]): string {
  let path = root;
  for (const segment of segments) {
    if (/^\d+$/.test(segment)) path += `[${segment}]`;
    else path += path === '' ? segment : `.${segment}`;
  }
  return path;
}

/** A value as it is named in a message: JSON, shortened to 80 characters. */
export function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : textOf(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch (error) {
    // The stack has overflowed.
    if (error instanceof RangeError) return 'something nested too deeply';
    throw error;
  }
}
