/** Notation of names and values in a text area, one pair per line: `name: value`. */

/** Writes pairs; values that are no strings as JSON. */
export function pairsText(pairs: Readonly<Record<string, unknown>> | null | undefined, separator: ':' | '='): string {
  const gap = separator === ':' ? ': ' : ' = ';
  return Object.entries(pairs ?? {})
    .map(([name, value]) => `${name}${gap}${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}

/** Reads pairs. Returns the first line that is no pair, as a string. */
export function readPairs(text: string, separator: ':' | '='): Readonly<Record<string, string>> | string {
  const pairs: Record<string, string> = {};
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const at = line.indexOf(separator);
    if (at < 1) return line;
    pairs[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return pairs;
}

/** Gives values that are unchanged their original type: `{ radius: 5 }` stays a number. */
export function withTypesOf<V>(
  stored: Readonly<Record<string, V>> | null | undefined,
  pairs: Readonly<Record<string, string>>,
): Record<string, V | string> {
  const before = new Map(Object.entries(stored ?? {}));
  return Object.fromEntries(
    Object.entries(pairs).map(([name, text]) => {
      const value = before.get(name);
      return [name, value !== undefined && JSON.stringify(value) === text ? value : text];
    }),
  );
}
