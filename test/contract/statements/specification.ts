/** Parses the specification into named statements. */

/** One statement of the specification. */
export interface Read {
  /** Its heading, kind and number: `Fence row 4`, `Limits sentence 1`, `Versioning item 4.1b`. */
  readonly at: string;
  readonly text: string;
}

/**
 * Returns every row of a table, every item of a list and every sentence, in order. Letters distinguish the sentences of
 * an item. A line that ends with a colon introduces the next ones, and is no statement itself.
 */
export function statementsOf(specification: string): readonly Read[] {
  const lines = specification.split('\n');
  const found: Read[] = [];
  let heading = '';
  let [rows, sentences, items, nested] = [0, 0, 0, 0];
  for (const [index, line] of lines.entries()) {
    const title = /^#+ (.+)$/.exec(line)?.[1];
    const item = /^(\d+\.|( *)-) (.+)$/.exec(line);
    if (title !== undefined) {
      heading = title;
      [rows, sentences, items, nested] = [0, 0, 0, 0];
    } else if (line.startsWith('|')) {
      if (isRule(line) || isRule(lines[index + 1])) continue;
      found.push({ at: `${heading} row ${++rows}`, text: line });
    } else if (item !== null) {
      const [, mark = '', indent, text = ''] = item;
      if (indent === undefined) [items, nested] = [Number.parseInt(mark, 10), 0];
      else nested++;
      const at = `${heading} item ${items}${nested > 0 ? `.${nested}` : ''}`;
      const parts = sentencesOf(text);
      for (const [part, sentence] of parts.entries()) {
        found.push({ at: parts.length === 1 ? at : at + String.fromCodePoint(97 + part), text: sentence });
      }
    } else {
      for (const text of sentencesOf(line)) found.push({ at: `${heading} sentence ${++sentences}`, text });
    }
  }
  return found;
}

/** The separator line below the head of a table. */
function isRule(line = ''): boolean {
  return /^\|[\s|-]+$/.test(line);
}

function sentencesOf(text: string): readonly string[] {
  if (text.trim() === '' || text.endsWith(':')) return [];
  return text.split(/(?<=\.)(?<!e\.g\.) +(?=[A-Za-z])/);
}
