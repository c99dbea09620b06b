import type { StoredRow, LastKnownRow } from '../../src/core/item.ts';

/** A row of about 450 bytes, as emitted by a shard. */
export function row(number: number, { atMs = 1_700_000_000_000, id = `tag-${number}` } = {}): LastKnownRow {
  const location = {
    position: { type: 'Point', coordinates: [8.4 + number * 1e-6, 49.01] },
    source: 'zone-1',
    provider_type: 'uwb',
    provider_id: id,
    timestamp_generated: new Date(atMs).toISOString(),
    accuracy: 0.3,
    speed: 1.25,
    course: 90,
    floor: 1,
    crs: 'EPSG:4326',
    properties: { note: 'n'.repeat(150) },
  };
  return {
    kind: number % 2 === 0 ? 'provider' : 'trackable',
    id,
    receivedMs: atMs + number,
    eventTimeMs: atMs - number,
    location: JSON.stringify(location),
    memberships:
      number % 4 === 0
        ? [
            [`fence-${number}`, atMs],
            ['fence-ü', atMs + 0.5],
          ]
        : [],
  };
}

/** Sorts rows, since stores list them in any order. */
export function sorted(rows: readonly StoredRow[]): StoredRow[] {
  return rows.toSorted((a, b) => (`${a.kind} ${a.id}` < `${b.kind} ${b.id}` ? -1 : 1));
}
