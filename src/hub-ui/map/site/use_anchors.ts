import { useCallback, useMemo } from 'preact/hooks';
import type { Anchor } from '../../../model/anchor.ts';
import type { Zone } from '../../../model/zone.ts';
import { useEntities } from '../../hub/stores.ts';

/** Returns the anchors of a floor, or of all floors if undefined, and a lookup of an anchor's zone by id or foreign id. */
export function useAnchors(floor: number | undefined): {
  readonly anchors: readonly Anchor[];
  readonly zoneOf: (anchor: Anchor) => Zone | undefined;
} {
  const zones = useEntities('zones');
  const all = useEntities('anchors');
  const byForeignId = useMemo(
    () => new Map([...zones.values()].map((zone) => [zone.foreign_id ?? zone.id, zone])),
    [zones],
  );
  const zoneOf = useCallback(
    ({ zone_id: name }: Anchor) => (name == null ? undefined : (zones.get(name) ?? byForeignId.get(name))),
    [zones, byForeignId],
  );
  const anchors = useMemo(() => {
    if (floor === undefined) return [...all.values()];
    return [...all.values()].filter((anchor) => (zoneOf(anchor)?.floor ?? floor) === floor);
  }, [all, zoneOf, floor]);
  return { anchors, zoneOf };
}
