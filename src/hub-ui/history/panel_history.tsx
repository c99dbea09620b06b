import { Facts } from '../controls/facts.tsx';
import typography from '../controls/typography.module.css';
import { entityPath } from '../hub/rest.ts';
import { hasHistory } from '../hub/settings.ts';
import { t } from '../languages/language.ts';
import { clockText, lengthOfTime, zoneText } from '../languages/times.ts';
import { fromMap } from '../map/plane/plane.ts';
import { pastFromUrl, type MapSelection } from '../map/view/map_url.ts';
import { FenceHistory } from './fence_history.tsx';
import { ObjectDay } from './object_day.tsx';
import { playback } from './playback.ts';

/** History of the selected entity, limited to what the user may read. */
export function PanelHistory({ selection }: { readonly selection: MapSelection }) {
  const { kind, id } = selection;
  const mayAsk = hasHistory(`${entityPath(kind, id)}/visits`);
  return (
    <>
      {(kind === 'trackables' || kind === 'providers') && pastFromUrl() !== undefined && (
        <PastFacts selection={selection} />
      )}
      {kind === 'trackables' && mayAsk && <ObjectDay id={id} />}
      {kind === 'fences' && mayAsk && <FenceHistory id={id} />}
    </>
  );
}

/** Position of the selected object at the time of playback. */
function PastFacts({ selection: { kind, id } }: { readonly selection: MapSelection }) {
  const atMs = playback.atMs.value;
  // Subscribes to fetched chunks.
  const { state } = playback.status.value;
  const objects = playback.objectsOf(kind === 'trackables' ? 'trackable' : 'provider');
  const index = objects?.indexOf(id);
  if (atMs === undefined || state === 'loading') return <p class={typography.soft}>…</p>;
  if (objects === undefined || index === undefined || objects.removed[index] === 1) {
    return <p class={typography.soft}>{t('No position around {time}.', { time: clockText(atMs) })}</p>;
  }
  const [x, y] = fromMap(objects.plane, [objects.x[index] ?? 0, objects.y[index] ?? 0]);
  const isEarth = objects.plane.kind === 'earth';
  const floor = objects.floor[index];
  const silentMs = atMs - (objects.lastSeenMs[index] ?? atMs);
  return (
    <Facts
      rows={[
        [t('Time'), `${clockText(atMs)} ${zoneText(atMs)}`],
        [
          t('Position'),
          <span key="position" class={typography.mono}>
            {isEarth ? `${y.toFixed(7)}, ${x.toFixed(7)}` : `${x.toFixed(2)} m, ${y.toFixed(2)} m`}
          </span>,
        ],
        [t('Floor'), floor === undefined || Number.isNaN(floor) ? undefined : floor],
        [t('Silent for'), silentMs < 1_000 ? undefined : lengthOfTime(silentMs)],
      ]}
    />
  );
}
