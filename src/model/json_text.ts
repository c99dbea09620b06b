/**
 * Returns JSON with the values at a path replaced and all other characters unchanged. `*` in the path matches each
 * element of an array. The input must be JSON written by the hub, since it is not validated.
 */
export function replacedIn(text: string, path: readonly string[], replace: (value: string) => string): string {
  const found: [from: number, to: number][] = [];
  note({ text, path, found }, 0, spaceEnd(text, 0));
  let result = '';
  let at = 0;
  for (const [from, to] of found) {
    result += text.slice(at, from) + replace(text.slice(from, to));
    at = to;
  }
  return result + text.slice(at);
}

interface Search {
  readonly text: string;
  readonly path: readonly string[];
  readonly found: [from: number, to: number][];
}

/**
 * Records the matching values in the value that starts at `from`, at `depth` of the path. Returns the end of that
 * value.
 */
function note(search: Search, depth: number, from: number): number {
  const { text, path, found } = search;
  const wanted = path[depth];
  if (wanted === undefined) {
    const to = valueEnd(text, from);
    found.push([from, to]);
    return to;
  }
  const isObject = text[from] === '{';
  if (!isObject && !(text[from] === '[' && wanted === '*')) return valueEnd(text, from);
  let at = spaceEnd(text, from + 1);
  while (at < text.length && text[at] !== '}' && text[at] !== ']') {
    let isWanted = true;
    if (isObject) {
      const nameEnd = stringEnd(text, at);
      isWanted = JSON.parse(text.slice(at, nameEnd)) === wanted;
      at = spaceEnd(text, spaceEnd(text, nameEnd) + 1);
    }
    at = spaceEnd(text, isWanted ? note(search, depth + 1, at) : valueEnd(text, at));
    if (text[at] === ',') at = spaceEnd(text, at + 1);
  }
  return at + 1;
}

function valueEnd(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return stringEnd(text, from);
  if (first !== '{' && first !== '[') return scalarEnd(text, from);
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = stringEnd(text, at) - 1;
    else if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1;
  }
  return text.length;
}

function stringEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function scalarEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && !',]} \t\r\n'.includes(text[at] as string)) at++;
  return at;
}

function spaceEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text[at] as string)) at++;
  return at;
}
