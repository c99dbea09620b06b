import type { HealthSource, SocketHealth, SystemHealth } from '../model/health.ts';
import type { Lease, LicenceInfo } from '../model/licence.ts';
import type { Consumption } from '../model/usage.ts';
import type { Zone } from '../model/zone.ts';

/** What the API tells those who run the hub. */
export interface OperationDeps {
  readonly health: HealthDeps;
  readonly usage: UsageDeps;
  readonly licence: LicenceDeps;
  readonly metrics: MetricsDeps;
}

export interface HealthDeps {
  system(): SystemHealth;
  socket(): SocketHealth;
  zone(zone: Zone): HealthSource;
  sources(): readonly HealthSource[];
  /** Undefined when nothing has come from it. */
  source(id: string): HealthSource | undefined;
}

export interface UsageDeps {
  /** Months, the earliest first; the last goes on. */
  all(): readonly Consumption[];
  current(): Consumption;
  /** Undefined when nothing is known of the month. */
  month(year: number, month: number): Consumption | undefined;
}

/** Rejects with, or throws, HUB_LICENCE_INVALID, HUB_LICENCE_EXPIRED and HUB_LICENCE_NOT_STARTED. */
export interface LicenceDeps {
  info(): LicenceInfo;
  lease(): Lease;
  startTrial(): Promise<Lease>;
  /** Takes the body as it came in. */
  setKey(body: unknown): Promise<void>;
  giveBack(): Promise<void>;
}

/** Metrics as one text. */
export interface MetricsDeps {
  readonly contentType: string;
  text(): Promise<string>;
}
