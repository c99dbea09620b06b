import Database from 'better-sqlite3';
import type { LastKnownRow } from '../../src/core/item.ts';
import type { EntityWrite } from '../../src/core/entity_write.ts';

/** The schema of version 1 as released. It never changes. */
const SCHEMA = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE entity (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (kind, id)
  ) STRICT;
  CREATE TABLE last_known (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    received_ms REAL NOT NULL,
    key_ms REAL NOT NULL,
    location TEXT NOT NULL,
    memberships TEXT NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT;
`;

export const HUB_ID = '7a1f0c52-63a6-4d0e-9a5e-5f0f8d3c1b2a';

/** Creates a file of version 1, in which settings were stored among the entities. */
export function makeVersion1(
  path: string,
  { entities = [], rows = [] }: { entities?: readonly EntityWrite[]; rows?: readonly LastKnownRow[] },
): void {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.transaction(() => {
    db.exec(SCHEMA);
    db.prepare("INSERT INTO meta VALUES ('hub_id', ?)").run(HUB_ID);
    db.pragma(`application_id = ${0x6f6d6c48}`);
    db.pragma('user_version = 1');
    const entity = db.prepare('INSERT INTO entity (kind, id, text) VALUES (?, ?, ?)');
    for (const { kind, id, text } of entities) entity.run(kind, id, text);
    const last = db.prepare('INSERT INTO last_known VALUES (?, ?, ?, ?, ?, ?)');
    for (const row of rows) {
      if (row.gone === true) continue;
      last.run(row.kind, row.id, row.receivedMs, row.eventTimeMs, row.location, JSON.stringify(row.memberships));
    }
  })();
  db.close();
}
