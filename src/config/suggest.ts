/** `; did you mean "port"?` for the closest known name, or an empty string if none is close. */
export function didYouMean(name: string, known: readonly string[]): string {
  let best = '';
  let least = Math.max(2, Math.floor(name.length / 4)) + 1;
  for (const candidate of known) {
    const edits = editDistance(name, candidate);
    if (edits < least) [best, least] = [candidate, edits];
  }
  return best === '' ? '' : `; did you mean "${best}"?`;
}

/** Levenshtein distance: insertions, deletions and replacements that turn one string into the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
