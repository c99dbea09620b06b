/** Ids in one cell of a table: separated by commas, semicolons, bars or line ends, each in quotes where it needs them, or a list of JSON. */

const SEPARATOR = /[,;|\r\n]/;

/** The ids of a cell. Blanks are part of an id, but not at its ends. */
export function idsOf(text: string): readonly string[] {
  return listOf(text) ?? [...partsOf(text)].filter((id) => id !== '');
}

/** Undefined for a text that is no list of JSON with texts or numbers. Numbers stay digit by digit. */
function listOf(text: string): readonly string[] | undefined {
  if (!text.trimStart().startsWith('[')) return undefined;
  try {
    const quoted = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
      token.startsWith('"') ? token : `"${token}"`,
    );
    const list: unknown = JSON.parse(quoted);
    return Array.isArray(list) && list.every((each) => typeof each === 'string') ? list : undefined;
  } catch {
    return undefined;
  }
}

function* partsOf(text: string): Generator<string> {
  for (let at = 0; at <= text.length; ) {
    const [quoted, inside] = /^\s*"((?:[^"]|"")*)"\s*(?=[,;|]|$)/.exec(text.slice(at)) ?? [];
    if (quoted !== undefined && inside !== undefined) {
      yield inside.replaceAll('""', '"');
      at += quoted.length + 1;
      continue;
    }
    const length = text.slice(at).search(SEPARATOR);
    const end = length === -1 ? text.length : at + length;
    yield text.slice(at, end).trim();
    at = end + 1;
  }
}

/** A cell from which `idsOf` reads these ids: with semicolons where it can be, else as JSON. Empty for none. */
export function textOfIds(ids: readonly string[]): string {
  const isPlain = (id: string): boolean => id === id.trim() && id !== '' && !SEPARATOR.test(id) && !/["[]/.test(id);
  if (ids.length === 0) return '';
  return ids.every(isPlain) ? ids.join(';') : JSON.stringify(ids);
}
