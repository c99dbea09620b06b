interface Named {
  readonly id: string;
}

/**
 * The elements with the smallest ids, in their order. Takes as long as a look at each, whatever their number: a list of
 * all entities need not be sorted for each page of it. Changes the order of the list.
 */
export function smallest<T extends Named>(list: T[], count: number): readonly T[] {
  if (count < list.length) divide(list, count);
  return list.slice(0, Math.min(count, list.length)).sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

/** Brings the smallest ones to the front, by quickselect. */
function divide(list: Named[], count: number): void {
  let left = 0;
  let right = list.length - 1;
  while (left < right) {
    const pivot = median(list, left, right);
    let i = left;
    let j = right;
    while (i <= j) {
      while ((list[i] as Named).id < pivot) i++;
      while ((list[j] as Named).id > pivot) j--;
      if (i > j) break;
      [list[i], list[j]] = [list[j] as Named, list[i] as Named];
      i++;
      j--;
    }
    if (count <= j) right = j;
    else if (count >= i) left = i;
    else return;
  }
}

/** Of the first, the middle and the last: lists are often in some order. */
function median(list: readonly Named[], left: number, right: number): string {
  const [a, b, c] = [left, (left + right) >>> 1, right].map((at) => (list[at] as Named).id) as [string, string, string];
  if (a < b) return b < c ? b : a < c ? c : a;
  return a < c ? a : b < c ? c : b;
}
