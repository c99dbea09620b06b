/** Columns of a result by name. Times in microseconds and other 64-bit integers are bigint. */
export type Columns = Readonly<Record<string, readonly unknown[]>>;

/** Above this number, strings are passed as one list, since long statements are slow to plan. */
const SINGLE_TEXTS_MAX = 100;

/**
 * Parameters of a statement: strings that come from clients or files, and never become part of the statement itself.
 * Each method adds a value and returns the expression for it.
 */
export class Values {
  /** By parameter name. */
  readonly bound: Record<string, string | readonly string[]> = {};
  #count = 0;

  text(value: string): string {
    return this.#add(value);
  }

  /** Returns the right side of IN. */
  list(texts: readonly string[]): string {
    if (texts.length === 0) return '(NULL)';
    if (texts.length <= SINGLE_TEXTS_MAX) return `(${texts.map((each) => this.text(each)).join()})`;
    return `(SELECT unnest(${this.array(texts)}))`;
  }

  /** Returns a DuckDB list. */
  array(texts: readonly string[]): string {
    return this.#add(texts);
  }

  #add(value: string | readonly string[]): string {
    const name = `v${++this.#count}`;
    this.bound[name] = value;
    return `$${name}`;
  }
}

/** Returns a DuckDB instant, given milliseconds since 1970. */
export function microseconds(ms: number): string {
  return `make_timestamptz(${Math.round(1000 * ms)})`;
}

/**
 * Returns the expression for the milliseconds between two instants. `date_diff` takes 50 times as long, since it uses
 * the calendar of a time zone.
 */
export function millisecondsBetween(from: string, to: string): string {
  return `(epoch_us(${to}) - epoch_us(${from})) / 1000`;
}

/** Returns a finite number as an SQL literal. */
export function num(value: number): string {
  return `${value}::DOUBLE`;
}
