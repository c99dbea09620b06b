import { useEffect, useRef, useState } from 'preact/hooks';
import type { Zone } from '../../../model/zone.ts';
import { Button } from '../../controls/button.tsx';
import { Card } from '../../controls/card.tsx';
import fieldStyles from '../../controls/field.module.css';
import flow from '../../controls/flow.module.css';
import { Notice } from '../../controls/notice.tsx';
import typography from '../../controls/typography.module.css';
import { urlParam } from '../../controls/url_state.ts';
import type { Draft } from '../../hub/rest.ts';
import { t } from '../../languages/language.ts';
import { floorPlanOf, georeference, georeferencePlan } from '../../map/plane/georeference.ts';
import { EARTH, fromMap, type MapPoint } from '../../map/plane/plane.ts';
import type { PlanImage } from './image_layer.tsx';
import { PairTable } from './pair_table.tsx';
import { type Pair, pairsOf, pairsOfArea, rowsOf } from './pairs.ts';
import { readPlan, usePlanImage } from './plan_image.ts';
import { type PlanCorners, PlanStart } from './plan_start.tsx';
import { drawable } from './zone_georeference.ts';
import type { ZoneTools } from './zone_tools.ts';

/** Change that sets the control points of a zone's plan. */
export function withPlanPairs(zone: Draft<'zones'>, pairs: readonly Pair[]): Draft<'zones'> {
  const plan = zone.properties?.['floor_plan'] as object | undefined;
  return { properties: { ...zone.properties, floor_plan: { ...plan, ground_control_points: rowsOf(pairs) } } };
}

/** Form section for the floor plan: select an image, and georeference it by points on both maps. */
export function PlanSection({ draft, tool, onTool, selected, onSelect }: ZoneTools) {
  const value = draft.value.value;
  const plan = floorPlanOf(drawable(value));
  const input = useRef<HTMLInputElement>(null);
  const choosing = useRef<HTMLButtonElement>(null);
  // With `start=plan` in the URL, focus the button for the image.
  useEffect(() => {
    if (urlParam('start') === 'plan') choosing.current?.focus();
  }, []);
  const [problem, setProblem] = useState<string>();
  const choose = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    try {
      const { floor_plan: _, ...others } = draft.value.peek().properties ?? {};
      const { url, width, height } = await readPlan(file, { ...others, rows: plan?.ground_control_points });
      setProblem(undefined);
      const rows = plan?.ground_control_points ?? firstRows(value, width, height);
      const next = { image: url, ground_control_points: rows };
      draft.change({ properties: { ...draft.value.peek().properties, floor_plan: next } });
      onTool('plan');
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const planPairs = pairsOf(plan?.ground_control_points);
  const image = usePlanImage(plan?.image);
  const isZonePlaced = (value.ground_control_points?.length ?? 0) > 0;
  const area = image === undefined || isZonePlaced ? undefined : areaOf(drawable(value), image);
  const put = ({ ofPlan, ofZone }: PlanCorners): void => {
    const zone = draft.value.peek();
    draft.change({ ...withPlanPairs(zone, ofPlan), ...(!isZonePlaced && { ground_control_points: rowsOf(ofZone) }) });
    onTool('look');
  };
  const remove = (): void => {
    const { floor_plan: _, ...rest } = value.properties ?? {};
    draft.change({ properties: Object.keys(rest).length === 0 ? undefined : rest });
    onTool('look');
  };
  return (
    <Card stack title={t('Floor plan')}>
      <input
        ref={input}
        type="file"
        accept="image/*"
        class={typography.hidden}
        aria-label={t('Image of the floor plan')}
        tabIndex={-1}
        onChange={({ currentTarget }) => {
          void choose(currentTarget.files?.[0]);
          currentTarget.value = '';
        }}
      />
      {plan === undefined && (
        <p class={fieldStyles.help}>{t('An image of the floor, which all maps show in its position.')}</p>
      )}
      <div class={flow.row}>
        <Button icon="upload" innerRef={choosing} onClick={() => input.current?.click()}>
          {plan === undefined ? t('Choose an image') : t('Another image')}
        </Button>
        {plan !== undefined && (
          <>
            <Button
              icon="target"
              aria-pressed={tool === 'plan'}
              onClick={() => onTool(tool === 'plan' ? 'look' : 'plan')}
            >
              {t('Place it')}
            </Button>
            <Button kind="quiet" icon="trash" onClick={remove}>
              {t('Remove')}
            </Button>
          </>
        )}
      </div>
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      {image !== undefined && planPairs.length === 0 && <PlanStart draft={draft} image={image} onPlaced={put} />}
      {area !== undefined && (
        <Notice tone="info">
          <p>{t('The zone itself is not placed yet.')}</p>
          <Button onClick={() => draft.change({ ground_control_points: area })}>
            {t('Place the zone by its plan')}
          </Button>
        </Notice>
      )}
      {plan !== undefined && tool === 'plan' && (
        <PairTable
          pairs={planPairs}
          columns={['column', 'row']}
          selected={selected}
          onSelect={onSelect}
          onChange={(next, step) => draft.change(withPlanPairs(value, next), step)}
        />
      )}
    </Card>
  );
}

/** Control points of a zone with the extent of its plan; undefined while the plan is not georeferenced. */
function areaOf(zone: Zone, { width, height }: PlanImage): number[][] | undefined {
  const plan = floorPlanOf(zone);
  const placed = plan && georeferencePlan(zone, plan, EARTH);
  if (placed === undefined) return undefined;
  const corners = [
    [0, height],
    [width, height],
    [width, 0],
    [0, 0],
  ] as const;
  return rowsOf(pairsOfArea(corners.map((corner) => placed.toMap(corner))));
}

/** Initial guess in a georeferenced zone: the image fills the bounding box of the control points. */
function firstRows({ ground_control_points: rows }: Draft<'zones'>, width: number, height: number): number[][] {
  const placed = rows == null ? undefined : georeference(rows);
  if (rows == null || placed === undefined) return [];
  const own = pairsOf(rows).map(({ own: [x = 0, y = 0] }) => [x, y] as const);
  const [left, right] = [Math.min(...own.map(([x]) => x)), Math.max(...own.map(([x]) => x))];
  const [bottom, top] = [Math.min(...own.map(([, y]) => y)), Math.max(...own.map(([, y]) => y))];
  const corners = [
    [left, top, 0, 0],
    [right, top, width, 0],
    [right, bottom, width, height],
    [left, bottom, 0, height],
  ] as const;
  return corners.flatMap(([x, y, column, row]) => [earthOf(placed.toMap([x, y])), [column, row]]);
}

function earthOf(point: MapPoint): number[] {
  return fromMap(EARTH, point);
}
