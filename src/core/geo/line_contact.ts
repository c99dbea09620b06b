/**
 * Returns the index of the first position whose edge crosses or touches an earlier edge that is not adjacent; undefined
 * for a line without such an edge. `line` has the coordinates x, y, x, y and so on. The two ends of the line may touch each
 * other. Takes quadratic time.
 */
export function selfContact(line: Float64Array): number | undefined {
  const edges = line.length / 2 - 1;
  for (let i = 1; i < edges; i++) {
    for (let k = 0; k < i; k++) {
      const isClosure = k === 0 && i === edges - 1 && edges > 2 && isSame(line, 0, edges);
      if (k === i - 1 ? turnsBack(line, i) : !isClosure && touch(line, k, i)) return i;
    }
  }
  return undefined;
}

function isSame(line: Float64Array, a: number, b: number): boolean {
  return line[2 * a] === line[2 * b] && line[2 * a + 1] === line[2 * b + 1];
}

/** Whether the edge at a position goes back along the edge before it. */
function turnsBack(line: Float64Array, at: number): boolean {
  if (side(line, at - 1, at, at + 1) !== 0) return false;
  const [x, y] = [line[2 * at]!, line[2 * at + 1]!];
  return (line[2 * at - 2]! - x) * (line[2 * at + 2]! - x) + (line[2 * at - 1]! - y) * (line[2 * at + 3]! - y) > 0;
}

/** Whether two edges share a point. */
function touch(line: Float64Array, a: number, b: number): boolean {
  const [from, to] = [side(line, a, a + 1, b), side(line, a, a + 1, b + 1)];
  const [start, end] = [side(line, b, b + 1, a), side(line, b, b + 1, a + 1)];
  if (from * to < 0 && start * end < 0) return true;
  return (
    (from === 0 && isBetween(line, a, b)) ||
    (to === 0 && isBetween(line, a, b + 1)) ||
    (start === 0 && isBetween(line, b, a)) ||
    (end === 0 && isBetween(line, b, a + 1))
  );
}

/** Returns on which side of the line through two positions a third one is, as 1, -1 or 0. */
function side(line: Float64Array, a: number, b: number, c: number): number {
  const [x, y] = [line[2 * a]!, line[2 * a + 1]!];
  return Math.sign((line[2 * b]! - x) * (line[2 * c + 1]! - y) - (line[2 * b + 1]! - y) * (line[2 * c]! - x));
}

/** Whether a position on the line of an edge is on the edge. */
function isBetween(line: Float64Array, edge: number, at: number): boolean {
  for (const axis of [0, 1]) {
    const [a, b, c] = [line[2 * edge + axis]!, line[2 * edge + 2 + axis]!, line[2 * at + axis]!];
    if (c < Math.min(a, b) || c > Math.max(a, b)) return false;
  }
  return true;
}
