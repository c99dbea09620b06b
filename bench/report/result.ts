/** Measurements of a profile, as a flat object. Every load profile has the first members. */
export interface Result {
  readonly profile: string;
  /** Command that repeats the measurement. */
  readonly command: string;
  /** Offered locations per second in an open loop; sent ones in a closed loop. */
  readonly offered_per_s?: number;
  readonly accepted_per_s?: number;
  /** Locations per second that the subscriber of location_updates received. */
  readonly seen_per_s?: number;
  /** Locations that the hub has evaluated according to its counters, of all that this profile has sent. */
  readonly processed?: number;
  /** Locations that were accepted, but not received by the subscriber of location_updates. */
  readonly lost?: number;
  /** Received events, except location updates. */
  readonly events?: number;
  readonly put_p50_ms?: number;
  readonly put_p99_ms?: number;
  /** From the due time of a PUT to the receipt of its location by a subscriber. */
  readonly event_p50_ms?: number;
  readonly event_p99_ms?: number;
  readonly hub_cpu_s?: number;
  readonly generator_cpu_s?: number;
  readonly rss_mb?: number;
  readonly bare_per_s?: number;
  readonly ratio_to_bare?: number;
  /** Additional numbers of this profile, by name. */
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
