import type { Point } from '../../../model/geojson.ts';
import { Button, Choice } from '../../controls/button.tsx';
import { Card } from '../../controls/card.tsx';
import fieldStyles from '../../controls/field.module.css';
import { Check, FieldError } from '../../controls/field.tsx';
import flow from '../../controls/flow.module.css';
import { labelOf } from '../../hub/entity_kinds.ts';
import type { Draft } from '../../hub/rest.ts';
import { useEntities } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import { EARTH, fromMap, type MapPoint, toMap } from '../../map/plane/plane.ts';
import { DraftNumber, DraftSelect, DraftText, problemOf } from '../fields/draft_fields.tsx';
import { IdChips } from '../fields/id_chips.tsx';
import { movedTo, PointFields } from '../fields/position_fields.tsx';
import type { PlacedPoint } from '../map/points_layer.tsx';
import { FromLocal } from './from_local.tsx';
import { PairTable } from './pair_table.tsx';
import { pairsOf, rowsOf } from './pairs.ts';
import { PLACINGS, type Placing, placingOf } from './zone_georeference.ts';
import type { ZoneTools } from './zone_tools.ts';

/** Position of a zone on the map. */
export const positionAt = {
  points(position: Point | null | undefined): PlacedPoint[] {
    return position == null ? [] : [{ at: toMap(EARTH, position.coordinates), label: '' }];
  },
  change({ position }: Draft<'zones'>, at: readonly [number, number]): Draft<'zones'> {
    const coordinates = movedTo(position?.coordinates ?? [], fromMap(EARTH, at as MapPoint));
    return { position: { type: 'Point', coordinates } };
  },
};

/** Form section for the georeference of a zone. */
export function PlaceSection(props: ZoneTools) {
  const { draft } = props;
  const value = draft.value.value;
  const placing = placingOf(value);
  const change = (next: Placing): void => {
    props.onTool('look');
    draft.change({ transformation_type: next, ...(next === 'proximity' && { ground_control_points: undefined }) });
  };
  const { help } = PLACINGS.find((each) => each.value === placing) ?? { help: '' };
  const problem = problemOf(draft, 'transformation_type');
  return (
    <Card stack title={t('Geographic position')}>
      <Choice label={t('Placed by')} value={placing} options={PLACINGS} onChange={change} />
      <p class={fieldStyles.help}>{help}</p>
      <FieldError text={problem} />
      {placing === 'gcp' && <ControlPointsPlace {...props} />}
      {placing === 'proximity' && <ProximityPlace {...props} />}
      {placing === 'benchmark' && <BenchmarkPlace {...props} />}
      <Check
        label={t('Save incomplete, without a geographic position')}
        checked={value.incomplete_configuration === true}
        onChange={(on) => draft.change({ incomplete_configuration: on ? true : undefined })}
      />
    </Card>
  );
}

function ControlPointsPlace({ draft, tool, onTool, selected, onSelect }: ZoneTools) {
  const pairs = pairsOf(draft.value.value.ground_control_points);
  const change = (rows: number[][], step?: string): void => {
    draft.change({ ground_control_points: rows.length === 0 ? undefined : rows }, step);
  };
  const toggle = (next: 'points' | 'area'): void => onTool(tool === next ? 'look' : next);
  const problem = problemOf(draft, 'ground_control_points');
  return (
    <>
      <div class={flow.row}>
        <Button icon="target" aria-pressed={tool === 'points'} onClick={() => toggle('points')}>
          {t('Match points')}
        </Button>
        <Button icon="zone" aria-pressed={tool === 'area'} onClick={() => toggle('area')}>
          {t('Draw the area')}
        </Button>
      </div>
      <FromLocal draft={draft} onPlaced={(next) => change(rowsOf(next))} />
      <FieldError text={problem} />
      <PairTable
        pairs={pairs}
        columns={['x', 'y']}
        selected={tool === 'points' ? selected : undefined}
        problemAt={(row) => problemOf(draft, `ground_control_points[${row}]`)}
        onSelect={(index) => tool === 'points' && onSelect(index)}
        onChange={(next, step) => change(rowsOf(next), step)}
      />
      <IdChips
        draft={draft}
        field="anchor_ids"
        kind="anchors"
        icon="anchor"
        help={t('Anchors with geographic and local positions georeference the zone instead of its points.')}
      />
    </>
  );
}

function ProximityPlace({ draft }: ZoneTools) {
  const value = draft.value.value;
  const trackables = useEntities('trackables');
  const zones = useEntities('zones');
  const carriers = [
    ...[...trackables.values()].map((entity) => ({ value: entity.id, label: labelOf(entity) })),
    ...[...zones.values()]
      .filter((zone) => zone.id !== value.id && placingOf(zone) === 'proximity')
      .map((entity) => ({ value: entity.id, label: t('{name} (zone)', { name: labelOf(entity) }) })),
  ];
  return (
    <>
      <PointFields draft={draft} field="position" plane="earth" />
      <DraftNumber draft={draft} field="radius" label={t('Radius')} unit="m" min={0} help={t('Its detection range.')} />
      <DraftSelect
        draft={draft}
        field="parent"
        label={t('Carried by')}
        help={t('For example a reader on a forklift.')}
        options={[{ value: '', label: t('Nothing (fixed position)') }, ...carriers]}
      />
    </>
  );
}

function BenchmarkPlace({ draft }: ZoneTools) {
  return (
    <>
      <PointFields draft={draft} field="position" plane="earth" />
      <div class={fieldStyles.fields}>
        <DraftText
          draft={draft}
          field="surface_projection"
          label={t('Plane')}
          example="EPSG:32632"
          help={t('A UTM or UPS code.')}
        />
        <DraftNumber draft={draft} field="easting_angle" label={t('Easting angle')} unit="°" />
        <DraftNumber draft={draft} field="meridian_convergence" label={t('Meridian convergence')} unit="°" />
        <DraftNumber draft={draft} field="scale_factor" label={t('Scale factor')} min={0} />
      </div>
    </>
  );
}
