import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../controls/button.tsx';
import { Card } from '../../controls/card.tsx';
import fieldStyles from '../../controls/field.module.css';
import flow from '../../controls/flow.module.css';
import { Notice } from '../../controls/notice.tsx';
import typography from '../../controls/typography.module.css';
import { urlParam } from '../../controls/url_state.ts';
import { t } from '../../languages/language.ts';
import { floorPlanOf } from '../../map/plane/georeference.ts';
import { EARTH, type MapPoint, mapX, toMap, unitsPerMeter } from '../../map/plane/plane.ts';
import { lastView } from '../map/context_map.tsx';
import { PairTable } from './pair_table.tsx';
import { pairsOf, rowsOf } from './pairs.ts';
import { areaOfPlan, withPlacedPlan, withPlanPairs } from './plan_area.ts';
import { addPlan, type FirstPosition } from './plan_file.ts';
import { usePlanImage } from './plan_image.ts';
import { pairsAround } from './plan_move.ts';
import { PlanSizeFields } from './plan_size_fields.tsx';
import { type PlanCorners, PlanStart } from './plan_start.tsx';
import { drawable } from './zone_georeference.ts';
import type { ZoneTools } from './zone_tools.ts';

/** Width of the first placement of a plan, in pixels of the map. */
const FIRST_WIDTH_PIXELS = 400;
/** On a map of a whole country, a plan begins with the size of a building. */
const FIRST_WIDTH_MAX_METERS = 100;

/** Position of a plan without one: around a point of the map, at a size that the user can see. */
export function firstPosition(center: MapPoint, resolution: number): FirstPosition {
  const meters = (FIRST_WIDTH_PIXELS * resolution) / unitsPerMeter(EARTH, center);
  return { center, widthMeters: Math.min(meters, FIRST_WIDTH_MAX_METERS) };
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
      await addPlan(draft, file);
      setProblem(undefined);
      onTool('plan');
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const planPairs = pairsOf(plan?.ground_control_points);
  const image = usePlanImage(plan?.image);
  const isZonePlaced = (value.ground_control_points?.length ?? 0) > 0;
  const area = image === undefined || isZonePlaced ? undefined : areaOfPlan(drawable(value), image);
  const put = ({ ofPlan, ofZone }: PlanCorners): void => {
    const zone = draft.value.peek();
    draft.change({ ...withPlanPairs(zone, ofPlan), ...(!isZonePlaced && { ground_control_points: rowsOf(ofZone) }) });
    onTool('look');
  };
  const putByHand = (): void => {
    if (image !== undefined && planPairs.length === 0) {
      const { center = [0, 0], zoom = 0 } = lastView.peek() ?? {};
      const first = firstPosition(toMap(EARTH, center), resolutionAt(zoom));
      draft.change(withPlacedPlan(value, image, pairsAround(first.center, image, first.widthMeters)));
    }
    onTool(tool === 'hand' ? 'look' : 'hand');
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
        accept="image/*,.dxf"
        class={typography.hidden}
        aria-label={t('Image of the floor plan')}
        tabIndex={-1}
        onChange={({ currentTarget }) => {
          void choose(currentTarget.files?.[0]);
          currentTarget.value = '';
        }}
      />
      {plan === undefined && (
        <p class={fieldStyles.help}>
          {t(
            'An image or a DXF drawing of the floor, which all maps show in its position. You can also drop the file on the map.',
          )}
        </p>
      )}
      <div class={flow.row}>
        <Button icon="upload" innerRef={choosing} onClick={() => input.current?.click()}>
          {plan === undefined ? t('Choose a file') : t('Another file')}
        </Button>
        {plan !== undefined && (
          <>
            <Button icon="frame" aria-pressed={tool === 'hand'} onClick={putByHand}>
              {t('By hand')}
            </Button>
            <Button
              icon="ruler"
              aria-pressed={tool === 'ruler'}
              disabled={planPairs.length < 2}
              onClick={() => onTool(tool === 'ruler' ? 'look' : 'ruler')}
            >
              {t('Known length')}
            </Button>
            <Button
              icon="target"
              aria-pressed={tool === 'plan'}
              onClick={() => onTool(tool === 'plan' ? 'look' : 'plan')}
            >
              {t('Control points')}
            </Button>
            <Button kind="quiet" icon="trash" onClick={remove}>
              {t('Remove')}
            </Button>
          </>
        )}
      </div>
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      {image !== undefined && planPairs.length > 0 && tool === 'hand' && <PlanSizeFields draft={draft} image={image} />}
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

/** Map units per pixel at a zoom level: the whole earth has 256 pixels at level 0. */
function resolutionAt(zoom: number): number {
  return (2 * mapX(180)) / (256 * 2 ** zoom);
}
