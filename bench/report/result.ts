/** Measurements of a profile, as one flat object. Every load profile has its first members. */
export interface Result {
  readonly profile: string;
  /** How it was run, to repeat the measurement. */
  readonly command: string;
  /** Locations a second that were to be sent; of a closed loop: that were sent. */
  readonly offered_per_s?: number;
  readonly accepted_per_s?: number;
  /** Locations a second that the subscriber of location_updates read. */
  readonly seen_per_s?: number;
  /** Locations that the hub says it has evaluated, of all that this profile has sent. */
  readonly processed?: number;
  /** Accepted but not seen by the subscriber of location_updates. */
  readonly lost?: number;
  /** Events but location updates that subscribers have read. */
  readonly events?: number;
  readonly put_p50_ms?: number;
  readonly put_p99_ms?: number;
  /** From when a PUT was due to when a subscriber read its location. */
  readonly event_p50_ms?: number;
  readonly event_p99_ms?: number;
  readonly hub_cpu_s?: number;
  readonly generator_cpu_s?: number;
  readonly rss_mb?: number;
  readonly bare_per_s?: number;
  readonly ratio_to_bare?: number;
  /** Numbers of this profile alone, by name. */
  readonly more: Readonly<Record<string, number>>;
  /** Series for plots and tables. */
  readonly series?: readonly Series[];
}

/** A line of a plot. */
export interface Series {
  readonly name: string;
  readonly x: string;
  readonly y: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}
