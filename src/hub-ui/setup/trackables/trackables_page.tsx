import type { Trackable } from '../../../model/trackable.ts';
import { SiteIndex } from '../site_index.tsx';
import { useAsked } from '../use_editor.ts';
import { TrackableEditor } from './trackable_editor.tsx';

/** Trackables: all of them, or one in its editor. */
export function TrackablesPage() {
  const asked = useAsked('trackables');
  if (asked.at === 'index') {
    return (
      <SiteIndex
        kind="trackables"
        title="Trackables"
        icon="trackable"
        lead="Things that are located through their providers: vehicles, tools, people."
        about={aboutTrackable}
      />
    );
  }
  const id = asked.at === 'one' ? asked.id : undefined;
  return <TrackableEditor key={id ?? ''} id={id} />;
}

function aboutTrackable({ location_providers: ids, radius, geometry }: Trackable): string {
  const count = ids?.length ?? 0;
  const providers = count === 1 ? ids?.[0] : count === 0 ? 'no provider' : `${count} providers`;
  const shape = geometry != null ? 'polygon' : radius != null ? `round, ${radius} m` : 'a point';
  return `${providers} · ${shape}`;
}
