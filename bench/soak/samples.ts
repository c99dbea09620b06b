/** State of a hub at an instant. Memory and files are in MB (10^6 bytes). */
export interface Sample {
  readonly atSeconds: number;
  readonly residentMb: number;
  /** JavaScript objects of all threads, including garbage. */
  readonly heapsMb: number;
  readonly logMb: number;
  readonly databaseMb: number;
  readonly pendingRows: number;
  readonly isFailing: boolean;
}

/** Development of one number of the samples during a run. */
export interface Course {
  readonly first: number;
  readonly last: number;
  readonly most: number;
}

/**
 * Means of the second and of the last quarter, and the overall maximum. The first quarter is ignored: caches fill, and
 * the engine adapts its heap size.
 */
export function courseOf<S>(samples: readonly S[], value: (sample: S) => number): Course {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  return {
    first: mean(samples.slice(quarter, 2 * quarter).map(value)),
    last: mean(samples.slice(-quarter).map(value)),
    most: Math.max(...samples.map(value)),
  };
}

/** Whether a value has not grown: by less than a tenth, or by less than an amount that may be noise. */
export function isFlat({ first, last }: Course, chanceMb: number): boolean {
  return last - first < Math.max(first / 10, chanceMb);
}

export function courseText({ first, last, most }: Course, unit: string): string {
  const [a, b, c] = [first, last, most].map((value) => value.toFixed(1));
  return `second quarter ${a}, last quarter ${b}, most ${c} ${unit}`.trimEnd();
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
