/** Connection settings of a wide-column store. */
export interface WideColumnSettings {
  readonly hosts: readonly string[];
  readonly port: number;
  readonly username: string | null;
  readonly password: string | null;
  readonly keyspace: string;
  /** In CQL syntax: {'class': 'SimpleStrategy', 'replication_factor': 1} */
  readonly replication: string;
  /** Null for the data center of the first host that replies. */
  readonly datacenter: string | null;
  readonly readConsistency: string;
  readonly writeConsistency: string;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** `pem` is a file with trusted certificates; null for the certificates that Node.js trusts. */
  readonly tls: { readonly pem: string | null } | undefined;
  /** Rate limit; Infinity for none. */
  readonly bytesPerSecond: number;
  readonly burstBytes: number;
}

/** Clock and randomness, injected by the thread of the store. */
export interface WideColumnDeps {
  /** Milliseconds since 1970. */
  now(): number;
  wait(ms: number): Promise<void>;
  /** Returns a random number in [0, 1). */
  random(): number;
  newId(): string;
}
