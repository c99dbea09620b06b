import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Zone } from '../../../model/zone.ts';
import { Card } from '../../controls/card.tsx';
import fieldStyles from '../../controls/field.module.css';
import { toastError } from '../../controls/toasts.tsx';
import { urlParam } from '../../controls/url_state.ts';
import type { EntityDraft } from '../../drafts/entity_draft.ts';
import type { Draft } from '../../hub/rest.ts';
import { t } from '../../languages/language.ts';
import { floorPlanOf, type Matrix } from '../../map/plane/georeference.ts';
import { EARTH } from '../../map/plane/plane.ts';
import { type DroppedPlan, takeDroppedPlan, usePlanDrop } from '../../map/site/dropped_plan.ts';
import { EditorFrame } from '../editor/editor_frame.tsx';
import { NoEditor } from '../editor/no_editor.tsx';
import { useEditor, useStored } from '../editor/use_editor.ts';
import { DraftDuration, DraftNumber, DraftProperties, DraftSelect, DraftText } from '../fields/draft_fields.tsx';
import { ContextMap } from '../map/context_map.tsx';
import { DrawArea, SnapToSite } from '../map/draw_area.tsx';
import { MapHint } from '../map/map_hint.tsx';
import { PointsLayer } from '../map/points_layer.tsx';
import { PlaceSection, positionAt } from './georeference_section.tsx';
import { KnownLength } from './known_length.tsx';
import { PairMaps } from './pair_maps.tsx';
import { pairsOf, pairsOfArea, rowsOf } from './pairs.ts';
import { usePlanImage } from './plan_image.ts';
import { placementOfPlan, withMovedPlan, withPlanPairs } from './plan_area.ts';
import { PlanByHand } from './plan_by_hand.tsx';
import { addPlan } from './plan_file.ts';
import { firstPosition, PlanSection } from './plan_section.tsx';
import { ProximitySection } from './proximity_section.tsx';
import { drawable, placingOf, ZONE_TYPES } from './zone_georeference.ts';
import type { ZoneTool, ZoneTools } from './zone_tools.ts';

const FIRST: Draft<'zones'> = { type: 'uwb', floor: 0 };

const FIELDS = ['name', 'foreign_id', 'type', 'floor', 'description', 'building', 'site', 'address', 'position'].concat(
  ['radius', 'ground_control_points', 'transformation_type', 'surface_projection', 'easting_angle', 'properties'],
  [
    'anchor_ids',
    'meridian_convergence',
    'scale_factor',
    'exit_delay',
    'wgs84_height',
    'parent',
    'incomplete_configuration',
    'proximity_resolution',
  ],
);

/** Editor of a zone. */
export function ZoneEditor({ id }: { readonly id: string | undefined }) {
  const editor = useEditor('zones', { id, stored: useStored('zones', id), first: FIRST });
  const [tool, setTool] = useState<ZoneTool>(() =>
    id === undefined && urlParam('start') === 'area' ? 'area' : 'look',
  );
  const [selected, setSelected] = useState<number>();
  if (typeof editor === 'string') return <NoEditor kind="zones" state={editor} />;
  const { draft, mayChange } = editor;
  const pick = (next: ZoneTool): void => {
    setSelected(undefined);
    setTool(next);
  };
  const tools = { draft, tool, onTool: pick, selected, onSelect: setSelected };
  return (
    <EditorFrame kind="zones" editor={editor} fields={FIELDS} map={<ZoneMap {...tools} mayChange={mayChange} />}>
      <Card stack title={t('General')}>
        <DraftText draft={draft} field="name" label={t('Name')} example={t('For example Hall 3')} />
        <div class={fieldStyles.fields}>
          <DraftSelect draft={draft} field="type" label={t('Type')} options={ZONE_TYPES} />
          <DraftNumber draft={draft} field="floor" label={t('Floor')} step="1" />
        </div>
        <DraftText
          draft={draft}
          field="foreign_id"
          label={t('External ID')}
          help={t('Its id in the locating system, as in the source of locations.')}
        />
      </Card>
      <PlaceSection {...tools} />
      {placingOf(draft.value.value) === 'gcp' && <PlanSection {...tools} />}
      {placingOf(draft.value.value) === 'proximity' && <ProximitySection draft={draft} />}
      <Card stack title={t('More')}>
        <div class={fieldStyles.fields}>
          <DraftText draft={draft} field="building" label={t('Building')} />
          <DraftText draft={draft} field="site" label={t('Site')} />
          <DraftDuration draft={draft} field="exit_delay" label={t('Exit delay')} />
          <DraftNumber draft={draft} field="wgs84_height" label={t('Height of the floor')} unit="m" />
        </div>
        <DraftText draft={draft} field="address" label={t('Address')} />
        <DraftText draft={draft} field="description" label={t('Description')} />
        <DraftProperties draft={draft} hidden={['floor_plan']} />
      </Card>
    </EditorFrame>
  );
}

/** Map of a zone, for the active tool. */
function ZoneMap({ draft, tool, onTool, selected, onSelect, mayChange }: ZoneTools & { readonly mayChange: boolean }) {
  const value = draft.value.value;
  const zone = useMemo(() => drawable(value), [value]);
  const plan = floorPlanOf(zone);
  const image = usePlanImage(plan?.image);
  const pairs = useMemo(() => pairsOf(value.ground_control_points), [value.ground_control_points]);
  const planPairs = useMemo(() => pairsOf(plan?.ground_control_points), [plan?.ground_control_points]);
  const placing = placingOf(value);
  if (placing === 'gcp' && tool === 'points') {
    return (
      <PairMaps
        key="points"
        {...{ zone, pairs, selected, onSelect }}
        onChange={(next) => draft.change({ ground_control_points: rowsOf(next) })}
      />
    );
  }
  if (placing === 'gcp' && tool === 'plan' && image !== undefined) {
    return (
      <PairMaps
        key="plan"
        {...{ zone, image, selected, onSelect }}
        pairs={planPairs}
        onChange={(next) => draft.change(withPlanPairs(draft.value.peek(), next))}
      />
    );
  }
  const placement = tool === 'hand' || tool === 'ruler' ? placementOfPlan(zone) : undefined;
  const isPlacing = placing === 'gcp' && placement !== undefined && image !== undefined;
  const move = (movement: Matrix): void => {
    if (image !== undefined) draft.change(withMovedPlan(draft.value.peek(), image, movement));
  };
  return (
    <ContextMap
      plane={EARTH}
      label={t('Map of the zone')}
      zone={isPlacing ? { ...zone, properties: {} } : zone}
      floor={zone.floor ?? 0}
    >
      {placing === 'gcp' && mayChange && <PlanDrop draft={draft} onPlan={() => onTool('hand')} />}
      {isPlacing && (
        <PlanByHand image={image} placement={placement.matrix} hasHandles={tool === 'hand'} onMove={move} />
      )}
      {isPlacing && tool === 'hand' && (
        <MapHint>{t('Drag the plan to move it, a corner to scale it, the handle above it to turn it')}</MapHint>
      )}
      {isPlacing && tool === 'ruler' && (
        <KnownLength
          onScale={(movement) => {
            move(movement);
            onTool('hand');
          }}
        />
      )}
      {placing === 'gcp' && tool === 'area' && (
        <>
          <SnapToSite exceptZone={zone.id} />
          <DrawArea
            kind="polygon"
            onDrawn={(shape) => {
              if (shape.kind !== 'polygon') return;
              draft.change({ ground_control_points: rowsOf(pairsOfArea(shape.corners)) });
              onTool('look');
            }}
          />
          <MapHint>
            {t(
              'Click the corners; double-click to finish. The first corner is the origin of the zone, and the first edge its x axis.',
            )}
          </MapHint>
        </>
      )}
      {mayChange && (placing === 'proximity' || placing === 'benchmark') && <PositionPoint draft={draft} zone={zone} />}
    </ContextMap>
  );
}

/** Adds a file that is dropped on the map as the floor plan, and the one that was dropped on the live map before. */
function PlanDrop({ draft, onPlan }: { readonly draft: EntityDraft<'zones'>; readonly onPlan: () => void }) {
  const add = ({ file, at, resolution }: DroppedPlan): void => {
    void addPlan(draft, file, firstPosition(at, resolution)).then(onPlan, toastError);
  };
  usePlanDrop(true, add);
  useEffect(() => {
    const dropped = takeDroppedPlan();
    if (dropped !== undefined) add(dropped);
  }, []);
  return null;
}

/** Position of a proximity or benchmark zone; a click sets it, a drag moves it. */
function PositionPoint({ draft, zone }: { readonly draft: EntityDraft<'zones'>; readonly zone: Zone }) {
  const { position } = zone;
  const points = useMemo(() => positionAt.points(position), [position]);
  const put = (at: readonly [number, number]): void => draft.change(positionAt.change(draft.value.peek(), at));
  return (
    <>
      <PointsLayer points={points} onMove={(_, to) => put(to)} onPlace={put} />
      <MapHint>{position == null ? t('Click where it is') : t('Click or drag to move it')}</MapHint>
    </>
  );
}
