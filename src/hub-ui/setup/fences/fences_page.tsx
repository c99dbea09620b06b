import { useMemo, useState } from 'preact/hooks';
import type { Fence } from '../../../model/fence.ts';
import { EARTH } from '../../map/plane.ts';
import { ContextMap } from '../context_map.tsx';
import { OpenOnClick } from '../open_on_click.tsx';
import { SiteIndex } from '../site_index.tsx';
import { useAsked } from '../use_editor.ts';
import { FenceEditor } from './fence_editor.tsx';

/** Fences: all of them on a map, or one in its editor. */
export function FencesPage() {
  const asked = useAsked('fences');
  if (asked.at === 'index') return <FenceIndex />;
  const id = asked.at === 'one' ? asked.id : undefined;
  return <FenceEditor key={id ?? ''} id={id} />;
}

function FenceIndex() {
  const [hovered, setHovered] = useState<string>();
  const selected = useMemo(() => ({ fences: hovered }), [hovered]);
  return (
    <SiteIndex
      kind="fences"
      title="Fences"
      icon="fence"
      lead="Regions whose entries and exits are events."
      about={aboutFence}
      onHover={setHovered}
      map={
        <ContextMap isOverview plane={EARTH} label="Map of all fences" selected={selected}>
          <OpenOnClick kind="fences" />
        </ContextMap>
      }
    />
  );
}

function aboutFence({ region, radius, floor }: Fence): string {
  const shape = region.type === 'Point' ? `circle of ${radius ?? 0} m` : `${cornersOf(region.coordinates[0])} corners`;
  return `${shape} · ${floor == null ? 'all floors' : `floor ${floor}`}`;
}

function cornersOf(ring: readonly unknown[] | undefined): number {
  return Math.max(0, (ring?.length ?? 0) - 1);
}
