/** A simulated cluster, and the NATS servers that it needs. */
export interface Projected {
  readonly hubs: number;
  /** 0 for a single hub. */
  readonly servers: number;
  /** Cores of each server. */
  readonly cores: number;
}

export const PROJECTED: readonly Projected[] = [
  { hubs: 1, servers: 0, cores: 0 },
  { hubs: 1, servers: 3, cores: 4 },
  { hubs: 2, servers: 3, cores: 4 },
  { hubs: 4, servers: 3, cores: 4 },
  { hubs: 8, servers: 3, cores: 8 },
  { hubs: 16, servers: 5, cores: 8 },
  { hubs: 32, servers: 5, cores: 16 },
  { hubs: 64, servers: 9, cores: 16 },
];

/** Lean: routing costs as much as its messages. Measured: the cost measured on two cores that all processes shared. */
export const KINDS = ['lean', 'measured'] as const;

export type Kind = (typeof KINDS)[number];

/** Reported values of each cluster, in this order. */
export const VALUES = ['per_hub', 'front', 'nats_cores', 'messages', 'per_append', 'p50_ms', 'p99_ms'] as const;

/** Name of a number in the result. */
export function nameOf(kind: Kind, { hubs, servers }: Projected, value: (typeof VALUES)[number]): string {
  return `${kind}_${servers === 0 ? 'alone' : hubs}_${value}`;
}

/** Locations per second and hub for which p50 and p99 of a 204 are reported. */
export const CALM_PER_HUB = 20_000;
