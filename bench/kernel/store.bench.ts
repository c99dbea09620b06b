import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { locationText } from '../load/message.ts';
import { inBatches, type Kernel } from './kernel.ts';

const ROWS = 1000;
const PROVIDERS = 10_000;

/** SQLite, in this thread. */
export const STORE: readonly Kernel[] = [
  {
    name: 'store_row',
    summary: 'a last-known row, 1,000 in a transaction',
    prepare() {
      const folder = mkdtempSync(join(tmpdir(), 'hub-bench-'));
      const store = new SqliteStore(join(folder, 'data.dat'), () => 'bench');
      let first = 0;
      const rows = () => {
        first = (first + ROWS) % PROVIDERS;
        return Array.from({ length: ROWS }, (_, i) => {
          const id = `tag-${first + i}`;
          const times = { receivedMs: 1_800_000_000_000, eventTimeMs: 1_800_000_000_000 };
          return { kind: 'provider' as const, id, ...times, location: locationText(id), memberships: [] };
        });
      };
      const calls = inBatches(ROWS, rows, (batch) => {
        store.commit({ entities: [], rows: batch });
        store.work();
      });
      return {
        ...calls,
        close() {
          store.close();
          rmSync(folder, { recursive: true });
        },
      };
    },
  },
];
