/** Marks a file as a hub's: "omlH" as a big-endian number. */
export const APPLICATION_ID = 0x6f6d6c48;

/** Version of the schema below, kept in the file as its user_version. */
export const SCHEMA_VERSION = 1;

/**
 * Entities keep their place in the order of creation (seq) when they are replaced. Times are milliseconds since 1970.
 * `memberships` is JSON: [[fence id, entry time], …].
 *
 * last_known has a rowid and a separate index on purpose: rows of 490 bytes in random order of ids went in at 200,000 a
 * second, clustered on the key (WITHOUT ROWID) at 90,000 with four times as much to checkpoint.
 */
export const SCHEMA = `
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
