import { useMemo, useState } from 'preact/hooks';
import type { Anchor } from '../../../model/anchor.ts';
import { labelOf } from '../../hub/kinds.ts';
import { useEntities } from '../../hub/stores.ts';
import { EARTH } from '../../map/plane.ts';
import { ContextMap } from '../context_map.tsx';
import { OpenOnClick } from '../open_on_click.tsx';
import { SiteIndex } from '../site_index.tsx';
import { useAsked } from '../use_editor.ts';
import { zoneNamed } from '../zone_named.ts';
import { AnchorEditor } from './anchor_editor.tsx';

/** Anchors: all of them on a map, or one in its editor. */
export function AnchorsPage() {
  const asked = useAsked('anchors');
  if (asked.at === 'index') return <AnchorIndex />;
  const id = asked.at === 'one' ? asked.id : undefined;
  return <AnchorEditor key={id ?? ''} id={id} />;
}

function AnchorIndex() {
  const zones = useEntities('zones');
  const [hovered, setHovered] = useState<string>();
  const selected = useMemo(() => ({ anchors: hovered }), [hovered]);
  const about = ({ zone_id: name, local_position: local, georeferenced_position: earth }: Anchor): string => {
    const zone = zoneNamed(zones.values(), name);
    const known = [local != null && 'in meters', earth != null && 'on the earth'].filter(Boolean);
    return `${zone === undefined ? (name ?? 'no zone') : labelOf(zone)} · ${known.join(', ') || 'no place yet'}`;
  };
  return (
    <SiteIndex
      kind="anchors"
      title="Anchors"
      icon="anchor"
      lead="Fixed devices by which locating systems measure."
      about={about}
      onHover={setHovered}
      map={
        <ContextMap isOverview plane={EARTH} label="Map of all anchors" selected={selected}>
          <OpenOnClick kind="anchors" />
        </ContextMap>
      }
    />
  );
}
