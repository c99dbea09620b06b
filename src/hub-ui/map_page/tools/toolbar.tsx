import { useCallback, useMemo } from 'preact/hooks';
import { IconButton } from '../../controls/button.tsx';
import type { IconName } from '../../controls/icons.tsx';
import { lazyPart } from '../../controls/lazy.tsx';
import { Select } from '../../controls/select.tsx';
import { useNow } from '../../controls/time.ts';
import { setUrlParams } from '../../controls/url_state.ts';
import { can } from '../../hub/access.ts';
import { labelOf } from '../../hub/entity_kinds.ts';
import { floorNames, objectsByFloor } from '../../hub/floors.ts';
import { useEntities } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import { countedText, countText, type Noun } from '../../languages/numbers.ts';
import type { Seen } from '../../map/objects/moving_layer.tsx';
import type { Plane } from '../../map/plane/plane.ts';
import toolStyles from '../../map/view/map_tools.module.css';
import { FloorSwitch, ScaleBar, ZoomButtons } from '../../map/view/map_tools.tsx';
import { type LayerName, layersToUrl, type MapSelection, pastFromUrl } from '../../map/view/map_url.ts';
import { enterWall } from '../../map/view/wall_mode.ts';
import type { MovingKindLayer } from '../layers/live_layers.tsx';
import { LayerMenu } from './layer_menu.tsx';
import { Legend } from './legend.tsx';
import { SearchBox } from './search_box.tsx';
import styles from './toolbar.module.css';
import { ViewMenu } from './view_menu.tsx';

const Measure = lazyPart(async () => (await import('./measure.tsx')).Measure);

/** Tools of the map that use the pointer. */
export type MapTool = 'measure' | 'select' | 'find';

const TOOLS: readonly { readonly tool: MapTool; readonly icon: IconName; readonly label: string }[] = [
  { tool: 'find', icon: 'target', label: t('Find here') },
  { tool: 'measure', icon: 'ruler', label: t('Measure') },
  { tool: 'select', icon: 'lasso', label: t('Select several') },
];

/** Interval at which the objects on each floor are counted. */
const COUNT_MS = 1_000;

interface ToolbarProps {
  readonly plane: Plane;
  readonly floor: number | undefined;
  /** Floors of the site. */
  readonly floors: readonly number[];
  readonly layers: ReadonlySet<LayerName>;
  readonly trackables: MovingKindLayer;
  readonly providers: MovingKindLayer;
  /** The active tool, if any. */
  readonly tool: MapTool | undefined;
  readonly onTool: (tool: MapTool | undefined) => void;
  readonly onPlane: (zoneId: string | undefined) => void;
  readonly onFound: (found: MapSelection) => void;
  readonly onFit: () => void;
}

/** Controls around the live map: search, views and layers at the top, floors and zoom at the side, scale at the bottom. */
export function Toolbar(props: ToolbarProps) {
  const { plane, floor, floors, layers, trackables, providers, tool, onTool, onPlane, onFound, onFit } = props;
  const stop = useCallback(() => onTool(undefined), [onTool]);
  const isPast = pastFromUrl() !== undefined;
  const isOffered = (each: MapTool): boolean => each !== 'find' || (!isPast && can('READ', '/search'));
  return (
    <>
      <div class={styles.top}>
        <SearchBox onFound={onFound} />
        <div class={`${toolStyles.buttons} ${styles.bar}`}>
          <PlaneSelect plane={plane} onPlane={onPlane} />
          <ViewMenu />
          <LayerMenu layers={layers} onChange={layersToUrl} />
          {TOOLS.filter((each) => isOffered(each.tool)).map(({ tool: each, icon, label }) => (
            <IconButton
              key={each}
              icon={icon}
              label={label}
              aria-pressed={tool === each}
              onClick={() => onTool(tool === each ? undefined : each)}
            />
          ))}
          <IconButton icon="system" label={t('Wall view')} onClick={enterWall} />
        </div>
      </div>
      {tool === 'measure' && <Measure onClose={stop} />}
      <div class={toolStyles.side}>
        <SiteFloors {...{ plane, floors, floor, trackables, providers }} />
        <ZoomButtons onFit={onFit} />
      </div>
      <Legend layers={layers} />
      <ScaleBar>
        <span role="status" data-counts>
          {seenText(trackables.seen.value, 'trackable')}
          {layers.has('providers') && ` · ${seenText(providers.seen.value, 'provider')}`}
          {layers.has('unassigned') &&
            !layers.has('providers') &&
            ` · ${seenText(providers.seen.value, 'unassigned provider')}`}
        </span>
      </ScaleBar>
    </>
  );
}

/** Switch between the floors of the site, with their names and the numbers of objects on them. */
function SiteFloors({
  plane,
  floors,
  floor,
  trackables,
  providers,
}: Pick<ToolbarProps, 'plane' | 'floors' | 'floor' | 'trackables' | 'providers'>) {
  const zones = useEntities('zones');
  const names = useMemo(() => floorNames(zones.values()), [zones]);
  useNow(COUNT_MS);
  const counts = objectsByFloor((trackables.layer.current ?? providers.layer.current)?.objects);
  // The hub sends the objects of all floors only if none is selected.
  const stack = (): void => setUrlParams({ stack: 1, floor: undefined }, { replace: false });
  return (
    <FloorSwitch
      {...{ floors, floor, names, counts }}
      onChange={(next) => setUrlParams({ floor: next }, { replace: false })}
      onStack={plane.kind === 'earth' ? stack : undefined}
    />
  );
}

function seenText({ seen, stale }: Seen, name: Noun): string {
  const things = countedText(seen, name);
  return stale === 0 ? things : t('{things}, {stale} silent', { things, stale: countText(stale) });
}

/** Select for the plane of the map: the earth, or the local meters of a georeferenced zone. */
function PlaneSelect({ plane, onPlane }: Pick<ToolbarProps, 'plane' | 'onPlane'>) {
  const zones = [...useEntities('zones').values()].filter((zone) => zone.ground_control_points != null);
  if (zones.length === 0) return null;
  return (
    <Select
      class={styles.plane}
      aria-label={t('View')}
      value={plane.id}
      options={[
        { value: 'earth', label: t('Geographic') },
        ...zones.map((zone) => ({ value: zone.id, label: t('{zone}, in meters', { zone: labelOf(zone) }) })),
      ]}
      onChange={(id) => onPlane(id === 'earth' ? undefined : id)}
    />
  );
}
