/** A calendar month in UTC. */
export interface Month {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
}

export function monthOf(timeMs: number): Month {
  const date = new Date(timeMs);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1 };
}

/** Returns the start of the month in milliseconds since 1970. */
export function startOf({ year, month }: Month): number {
  return Date.UTC(year, month - 1);
}

/** Returns the start of the next month. */
export function endOf({ year, month }: Month): number {
  return Date.UTC(year, month);
}
