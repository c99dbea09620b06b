import type { Fence } from '../../../model/fence.ts';
import type { Zone } from '../../../model/zone.ts';
import { Button } from '../../controls/button.tsx';
import { Card } from '../../controls/card.tsx';
import fieldStyles from '../../controls/field.module.css';
import { Check, FieldError, SelectField } from '../../controls/field.tsx';
import flow from '../../controls/flow.module.css';
import { toastError } from '../../controls/toasts.tsx';
import typography from '../../controls/typography.module.css';
import type { EntityDraft } from '../../drafts/entity_draft.ts';
import { labelOf } from '../../hub/entity_kinds.ts';
import { entityPath, get } from '../../hub/rest.ts';
import { useEntities } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import { zoneOutline } from '../../map/plane/georeference.ts';
import { fromMap, type MapPoint, type Plane, unitsPerMeter } from '../../map/plane/plane.ts';
import { DraftNumber, DraftText, problemOf } from '../fields/draft_fields.tsx';
import { CornerTable } from './corner_table.tsx';
import { squareAround } from './corners.ts';
import { usePlaneOf } from './fence_plane.ts';

/** State shared by the map and the form of a fence. */
export interface FenceTools {
  readonly draft: EntityDraft<'fences'>;
  /** Active tool: draw a shape, or edit the existing one. */
  readonly tool: 'polygon' | 'circle' | 'line' | 'edit';
  readonly onTool: (tool: FenceTools['tool']) => void;
  /** Corner selected in the table, as ring and index. */
  readonly selectedCorner: readonly [number, number] | undefined;
  readonly onChoose: (corner: readonly [number, number] | undefined) => void;
  readonly isSnapping: boolean;
  readonly onSnapping: (isOn: boolean) => void;
}

const TOOLS = { Point: 'circle', Polygon: 'polygon', LineString: 'line' } as const;

/** Form section for the shape of a fence: tools, plane, table of corners. */
export function FenceShape(tools: FenceTools) {
  const { draft, tool, onTool, isSnapping, onSnapping } = tools;
  const { region } = draft.value.value;
  const problem = problemOf(draft, 'region');
  const zones = useEntities('zones');
  const plane = usePlaneOf(draft.value.value);
  const write = (): void => {
    if (plane === undefined) return;
    draft.change({ region: squareIn(plane, zones.values()) });
    onTool('edit');
  };
  const toggle = (next: 'polygon' | 'circle' | 'line'): void => onTool(tool === next ? 'edit' : next);
  return (
    <Card stack title={t('Shape')}>
      <div class={flow.row}>
        <Button icon="fence" aria-pressed={tool === 'polygon'} onClick={() => toggle('polygon')}>
          {t('Draw a polygon')}
        </Button>
        <Button icon="target" aria-pressed={tool === 'circle'} onClick={() => toggle('circle')}>
          {t('Draw a circle')}
        </Button>
        <Button icon="ruler" aria-pressed={tool === 'line'} onClick={() => toggle('line')}>
          {t('Draw a gate')}
        </Button>
        {region === undefined && plane !== undefined && (
          <Button icon="edit" onClick={write}>
            {t('Enter corners')}
          </Button>
        )}
      </div>
      <FromZone {...tools} />
      <Check label={t('Snap to other fences and zones')} checked={isSnapping} onChange={onSnapping} />
      <FieldError text={problem} />
      {region === undefined && <p class={typography.faint}>{t('Nothing is drawn yet')}</p>}
      {region?.type === 'Point' && <DraftNumber draft={draft} field="radius" label={t('Radius')} unit="m" min={0} />}
      {region !== undefined && <CornerTable {...tools} region={region} />}
      <PlaneFields {...tools} />
    </Card>
  );
}

/** Select that copies the outline of a zone. */
function FromZone({ draft, onTool }: FenceTools) {
  const zones = [...useEntities('zones').values()];
  if (zones.length === 0) return null;
  const copyOutline = async (id: string): Promise<void> => {
    if (id === '') return;
    try {
      const { region, radius, floor } = await get<Fence>(`${entityPath('zones', id)}/createfence`);
      const onEarth = { crs: undefined, zone_id: undefined };
      draft.change({ region, radius, ...onEarth, floor: draft.value.peek().floor ?? floor });
      onTool('edit');
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <SelectField
      label={t('Use the outline of a zone')}
      value=""
      options={[
        { value: '', label: t('Choose a zone') },
        ...zones.map((zone) => ({ value: zone.id, label: labelOf(zone) })),
      ]}
      onChange={(id) => void copyOutline(id)}
    />
  );
}

/** Square of 10 m by 10 m in the middle of the first zone of the plane. */
function squareIn(plane: Plane, zones: Iterable<Zone>): Fence['region'] {
  let middle: MapPoint = [0, 0];
  for (const zone of zones) {
    const outline = zoneOutline(zone, plane);
    if (outline === undefined) continue;
    middle = [meanOf(outline.map(([x]) => x)), meanOf(outline.map(([, y]) => y))];
    break;
  }
  const half = 5 * unitsPerMeter(plane, middle);
  const [x, y] = fromMap(plane, middle);
  const [right, top] = fromMap(plane, [middle[0] + half, middle[1] + half]);
  return squareAround([x, y], [right - x, top - y]);
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Select for the plane of the region. The plane changes with the next drawn shape, since coordinates are not converted. */
function PlaneFields({ draft, onTool }: FenceTools) {
  const zones = [...useEntities('zones').values()].filter((zone) => zone.ground_control_points != null);
  const { crs, zone_id: zoneId, region } = draft.value.value;
  const isEditable = crs == null || crs === 'EPSG:4326' || crs === 'local';
  const selectedCorner = crs === 'local' ? (zoneId ?? '') : '';
  const change = (next: string): void => {
    if (next === '') draft.change({ crs: undefined, zone_id: undefined, region: undefined });
    else draft.change({ crs: 'local', zone_id: next, region: undefined });
    onTool(region === undefined ? 'polygon' : TOOLS[region.type]);
  };
  if (!isEditable) {
    return (
      <div class={fieldStyles.fields}>
        <DraftText draft={draft} field="crs" label={t('Plane')} />
        <DraftText draft={draft} field="zone_id" label={t('Zone')} />
      </div>
    );
  }
  const named = zones.some((zone) => zone.id === selectedCorner)
    ? []
    : zones.filter((zone) => zone.foreign_id === selectedCorner);
  return (
    <SelectField
      label={t('Given in')}
      help={t('A fence in the coordinates of a zone moves with it. If you change this, draw the fence again.')}
      error={problemOf(draft, 'crs') ?? problemOf(draft, 'zone_id')}
      value={selectedCorner}
      options={[
        { value: '', label: t('Longitude and latitude') },
        ...zones.map((zone) => ({
          value: named.includes(zone) ? selectedCorner : zone.id,
          label: t('Meters of {zone}', { zone: labelOf(zone) }),
        })),
      ]}
      onChange={change}
    />
  );
}
