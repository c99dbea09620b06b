import { readdirSync, readlinkSync } from 'node:fs';
import Database from 'better-sqlite3';

/** Makes SQLite spill into a temporary file, and prints its path. Linux lists open files that were unlinked. */
const db = new Database(':memory:');
db.pragma('temp_store = FILE');
db.pragma('temp.cache_size = 10');
db.exec('CREATE TEMP TABLE large (text TEXT)');
const insert = db.prepare('INSERT INTO large VALUES (hex(randomblob(500)))');
db.transaction(() => {
  for (let count = 0; count < 20_000; count++) insert.run();
})();
const links = readdirSync('/proc/self/fd').map((name) => {
  try {
    return readlinkSync(`/proc/self/fd/${name}`);
  } catch {
    return '';
  }
});
process.stdout.write(links.filter((link) => link.endsWith('(deleted)')).join('\n'));
db.close();
