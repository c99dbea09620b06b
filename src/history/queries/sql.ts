/** The columns of a result, by name: times in microseconds and other whole numbers of 64 bits as bigint. */
export type Columns = Readonly<Record<string, readonly unknown[]>>;

/** More texts than that are one list for DuckDB: its statements would get long, and slow to plan. */
const SINGLE_TEXTS_MAX = 100;

/**
 * Texts of a statement that come from clients or from files. DuckDB gets them next to the statement as parameters, so no
 * character of theirs is part of it. Each method returns what stands for the value in the statement.
 */
export class Values {
  /** By the names of parameters. */
  readonly bound: Record<string, string | readonly string[]> = {};
  #count = 0;

  text(value: string): string {
    return this.#add(value);
  }

  /** The right side of IN. */
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

/** From one instant to another. `date_diff` takes 50 times as long for instants: it counts in the calendar of a time zone. */
export function millisecondsBetween(from: string, to: string): string {
  return `(epoch_us(${to}) - epoch_us(${from})) / 1000`;
}

/** A finite number. */
export function num(value: number): string {
  return `${value}::DOUBLE`;
}
