import { useMemo, useState } from 'preact/hooks';
import type { Zone } from '../../../model/zone.ts';
import { EARTH } from '../../map/plane.ts';
import { ContextMap } from '../context_map.tsx';
import { OpenOnClick } from '../open_on_click.tsx';
import { SiteIndex } from '../site_index.tsx';
import { useAsked } from '../use_editor.ts';
import { ZoneEditor } from './zone_editor.tsx';
import { PLACINGS, placingOf, ZONE_TYPES } from './zone_placing.ts';

/** Zones: all of them on a map, or one in its editor. */
export function ZonesPage() {
  const asked = useAsked('zones');
  if (asked.at === 'index') return <ZoneIndex />;
  const id = asked.at === 'one' ? asked.id : undefined;
  return <ZoneEditor key={id ?? ''} id={id} />;
}

function ZoneIndex() {
  const [hovered, setHovered] = useState<string>();
  const selected = useMemo(() => ({ zones: hovered }), [hovered]);
  return (
    <SiteIndex
      kind="zones"
      title="Zones"
      icon="zone"
      lead="Where locating systems measure: each with meters of its own, placed on the earth."
      about={aboutZone}
      onHover={setHovered}
      map={
        <ContextMap isOverview plane={EARTH} label="Map of all zones" selected={selected}>
          <OpenOnClick kind="zones" />
        </ContextMap>
      }
    />
  );
}

function aboutZone(zone: Zone): string {
  const type = ZONE_TYPES.find(({ value }) => value === zone.type)?.label ?? zone.type;
  const placing = PLACINGS.find(({ value }) => value === placingOf(zone))?.label.toLowerCase();
  return `${type} · floor ${zone.floor ?? 0} · ${placing}`;
}
