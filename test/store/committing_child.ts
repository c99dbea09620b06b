import { randomUUID } from 'node:crypto';
import { openStore } from '../../src/store/open.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { row } from './rows.ts';

/**
 * A process to be killed. `hold` opens the file and waits; `commit` commits one entity, an event and some rows at a time through
 * the store's thread, and prints each number after its acknowledgment.
 */
const [task, path = ''] = process.argv.slice(2);
if (task === 'hold') {
  const store = new SqliteStore(path, randomUUID);
  process.stdout.write('ready\n');
  process.stdin.resume();
  process.stdin.on('end', () => store.close());
} else {
  const store = await openStore({ path });
  for (let number = 0; ; number++) {
    const rows = Array.from({ length: 20 }, (_, index) => row(number * 20 + index));
    const events = { first: number + 1, count: 1, timeMs: number, bytes: Buffer.from(`event-${number}`) };
    await store.commit({ entities: [{ kind: 'zone', id: `zone-${number}`, text: `${number}` }], rows, events });
    process.stdout.write(`${number}\n`);
  }
}
