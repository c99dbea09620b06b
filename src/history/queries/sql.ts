/** Columns of a result by name. Times in microseconds and other 64-bit integers are bigint. */
export type Columns = Readonly<Record<string, readonly unknown[]>>;

/** Number of strings beyond which they are passed as one list: long statements are slow to plan. */
const SINGLE_TEXTS_MAX = 100;

/**
 * Strings of a statement that come from clients or files. They are passed to DuckDB as parameters and never become part
 * of the statement. Each method returns the expression that stands for the value.
 */
export class Values {
  /** By parameter name. */
  readonly bound: Record<string, string | readonly string[]> = {};
  #count = 0;

  text(value: string): string {
    return this.#add(value);
  }

  /** Right side of IN. */
  list(texts: readonly string[]): string {
    if (texts.length === 0) return '(NULL)';
    if (texts.length <= SINGLE_TEXTS_MAX) return `(${texts.map((each) => this.text(each)).join()})`;
    return `(SELECT unnest(${this.array(texts)}))`;
  }

  /** A list of DuckDB. */
  array(texts: readonly string[]): string {
    return this.#add(texts);
  }

  #add(value: string | readonly string[]): string {
    const name = `v${++this.#count}`;
    this.bound[name] = value;
    return `$${name}`;
  }
}

/** An instant in DuckDB, from milliseconds since 1970. */
export function microseconds(ms: number): string {
  return `make_timestamptz(${Math.round(1000 * ms)})`;
}

/**
 * Milliseconds between two instants. `date_diff` would take 50 times as long, as it uses the calendar of a time zone.
 */
export function millisecondsBetween(from: string, to: string): string {
  return `(epoch_us(${to}) - epoch_us(${from})) / 1000`;
}

/** A finite number. */
export function num(value: number): string {
  return `${value}::DOUBLE`;
}
