/** What a wide-column store is opened with. */
export interface WideColumnSettings {
  readonly hosts: readonly string[];
  readonly port: number;
  readonly username: string | null;
  readonly password: string | null;
  readonly keyspace: string;
  /** As CQL writes it: {'class': 'SimpleStrategy', 'replication_factor': 1} */
  readonly replication: string;
  /** Null for that of the first host that answers. */
  readonly datacenter: string | null;
  readonly readConsistency: string;
  readonly writeConsistency: string;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** `pem`: a file with the certificates to trust, null for those that Node.js trusts. */
  readonly tls: { readonly pem: string | null } | undefined;
  /** Infinity is no limit. */
  readonly bytesPerSecond: number;
  readonly burstBytes: number;
}

/** Time and chance, which the thread of the store hands in. */
export interface WideColumnDeps {
  /** Milliseconds since 1970. */
  now(): number;
  wait(ms: number): Promise<void>;
  /** From 0 to 1. */
  random(): number;
  newId(): string;
}
