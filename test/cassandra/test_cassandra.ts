import { after, before } from 'node:test';
import type { WideColumnSettings } from '../../src/store/widecolumn/settings.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { CassandraProcess } from './cassandra_process.ts';
import { cassandraLibraries } from './libraries.ts';

/** The Cassandra of a test file. */
export interface TestCassandra {
  /** Reason to skip tests that need it; false if they run. */
  readonly skip: string | false;
  readonly process: CassandraProcess;
  /** Settings for a store, with its own keyspace unless `more` names one. */
  settings(more?: Partial<WideColumnSettings>): WideColumnSettings;
}

/** A Cassandra for the tests of a file. It requires a user, and accepts TLS as well as plain connections. */
export function testCassandra(): TestCassandra {
  const libraries = cassandraLibraries();
  const skip = 'missing' in libraries ? `no Cassandra: ${libraries.missing}` : false;
  let process: CassandraProcess | undefined;
  let keyspaces = 0;
  if ('folder' in libraries) {
    const folder = temporaryFolder();
    before(async () => {
      process = await CassandraProcess.start({ libraries: libraries.folder, folder, secure: true });
    });
    after(async () => {
      await process?.kill();
    });
  }
  const started = (): CassandraProcess => {
    if (process === undefined) throw new Error('Cassandra is not started yet');
    return process;
  };
  return {
    skip,
    get process() {
      return started();
    },
    settings: (more = {}) => ({ ...PLAIN, port: started().port, keyspace: `Test_${++keyspaces}`, ...more }),
  };
}

const PLAIN: WideColumnSettings = {
  hosts: ['127.0.0.1'],
  port: 9042,
  username: 'cassandra',
  password: 'cassandra',
  keyspace: '',
  replication: "{'class': 'SimpleStrategy', 'replication_factor': 1}",
  datacenter: null,
  readConsistency: 'LOCAL_QUORUM',
  writeConsistency: 'LOCAL_QUORUM',
  connectTimeoutMs: 20_000,
  requestTimeoutMs: 30_000,
  tls: undefined,
  bytesPerSecond: Infinity,
  burstBytes: 10_000_000,
};
