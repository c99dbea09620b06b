/** Path of a claim in a token: names separated by dots, or a list of names. */
export type ClaimPath = string | readonly string[];

const NAME = /"(?:[^"\\]|\\.)*"|[^."]*/y;

/**
 * Names of a path. A name that contains a dot or a quote is written as a JSON string:
 * `resource_access."plant.apps".roles`. Undefined for a path with a quote elsewhere.
 */
export function namesOfClaim(path: ClaimPath): readonly string[] | undefined {
  if (typeof path !== 'string') return path;
  const names: string[] = [];
  for (let position = 0; position <= path.length; position++) {
    NAME.lastIndex = position;
    const name = nameOf(NAME.exec(path)?.[0] ?? '');
    position = NAME.lastIndex;
    if (name === undefined || (position < path.length && path[position] !== '.')) return undefined;
    names.push(name);
  }
  return names;
}

function nameOf(written: string): string | undefined {
  if (!written.startsWith('"')) return written;
  try {
    return JSON.parse(written) as string;
  } catch {
    return undefined;
  }
}
