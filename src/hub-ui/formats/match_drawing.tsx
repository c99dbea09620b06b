import { useMemo, useState } from 'preact/hooks';
import { Button, Choice } from '../controls/button.tsx';
import fieldStyles from '../controls/field.module.css';
import { Check, NumberField, SelectField } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { lazyPart } from '../controls/lazy.tsx';
import { Notice } from '../controls/notice.tsx';
import { NumberInput } from '../controls/number_input.tsx';
import { Failures } from '../controls/progress.tsx';
import { Select } from '../controls/select.tsx';
import { type Column, Table } from '../controls/table.tsx';
import { toastError } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { can } from '../hub/access.ts';
import { labelOf } from '../hub/entity_kinds.ts';
import { listEntities } from '../hub/rest.ts';
import { useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { placingOf } from '../setup/zones/zone_georeference.ts';
import type { Drawing, Layer } from './drawing.ts';
import { type Existing, entitiesOfDrawing, type LayerChoice, type PlaneChoice } from './drawn_entities.ts';
import type { HubDocument } from './entity_document.ts';
import styles from './match.module.css';
import { looksSwapped, sitePositions } from './swapped_positions.ts';
import { EMPTY_PAIR, placeByPoints, type PointPair } from './two_points.ts';

/** Maps for control points, loaded on demand because of their size. */
const PointMaps = lazyPart(async () => (await import('./point_maps.tsx')).PointMaps);

const BECOMES = [
  { value: 'fences', label: t('Fences') },
  { value: 'zones', label: t('Zones') },
  { value: 'none', label: t('Skipped') },
] as const;

const WAYS = [
  { value: 'origin', label: t('By its origin') },
  { value: 'points', label: t('By two points') },
] as const;

/** Form that maps each layer of a drawing to fences, zones or nothing, with floor and position. */
export function MatchDrawing({
  name,
  drawing: read,
  notes,
  onMatched,
}: {
  readonly name: string;
  readonly drawing: Drawing;
  /** Warnings about the file as a whole. */
  readonly notes: readonly string[];
  readonly onMatched: (document: HubDocument) => void;
}) {
  const [drawing, setDrawing] = useState(read);
  const [layers, setLayers] = useState<readonly LayerChoice[]>(() => drawing.layers.map(firstChoice));
  const [plane, setPlane] = useState<PlaneChoice>({ zoneId: '', x: 0, y: 0, turn: 0 });
  const [way, setWay] = useState<'origin' | 'points'>('origin');
  const [points, setPoints] = useState<readonly [PointPair, PointPair]>([EMPTY_PAIR, EMPTY_PAIR]);
  const [allZones, allFences] = [useEntities('zones'), useEntities('fences')];
  const zones = [...allZones.values()].filter((zone) => placingOf(zone) === 'gcp');
  const seemsSwapped = useMemo(
    () => looksSwapped(read, sitePositions(allFences.values(), allZones.values())),
    [read, allFences, allZones],
  );
  const zoneId = plane.zoneId || (zones[0]?.id ?? '');
  const isInMeters = drawing.plane === 'meters';
  const zone = zones.find(({ id }) => id === zoneId);
  const byPoints = placeByPoints(points);
  const isPlaced = !isInMeters || (zone !== undefined && (way === 'origin' || byPoints !== undefined));
  const used = layers.some(({ becomes }) => becomes !== 'none') && isPlaced;
  const change = (index: number, choice: Partial<LayerChoice>): void => {
    setLayers(layers.map((each, i) => (i === index ? { ...each, ...choice } : each)));
  };
  const match = async (): Promise<void> => {
    const place = isInMeters ? { ...plane, zoneId } : undefined;
    try {
      onMatched(entitiesOfDrawing(drawing, { layers, plane: place, name, existing: await readExisting() }));
    } catch (error) {
      toastError(error);
    }
  };
  const swap = (isSwapped: boolean): void => {
    const next = isSwapped ? (read.swapped?.() ?? read) : read;
    setDrawing(next);
    setLayers(next.layers.map(firstChoice));
  };
  const chooseZone = (id: string): void => {
    setPlane({ ...plane, zoneId: id });
    // The local meters of another zone differ.
    setPoints([
      { ...points[0], site: EMPTY_PAIR.site },
      { ...points[1], site: EMPTY_PAIR.site },
    ]);
  };
  const placeBy = (next: typeof points): void => {
    setPoints(next);
    const found = placeByPoints(next);
    if (found !== undefined) setPlane({ ...plane, x: found.x, y: found.y, turn: found.turn });
  };
  return (
    <div class={flow.stack}>
      {notes.map((note) => (
        <Notice key={note} tone="warn">
          {note}
        </Notice>
      ))}
      {seemsSwapped && (
        <Notice tone="warn">
          <p>{t('The file seems to have latitude before longitude.')}</p>
          <Check label={t('Swap longitude and latitude')} checked={drawing !== read} onChange={swap} />
        </Notice>
      )}
      <p class={typography.soft}>{t('Choose what to create from each layer. Items with their own floor keep it.')}</p>
      <Table
        label={t('Layers')}
        columns={layerColumns({ mayBeZones: !isInMeters, onChange: change })}
        rows={drawing.layers.map((layer, index) => ({ layer, index, choice: layers[index] ?? firstChoice(layer) }))}
        keyOf={({ layer }) => layer.name}
      />
      {isInMeters && zones.length === 0 && (
        <Notice tone="warn">
          {t('The file is not georeferenced. First create a zone with the coordinates of the file.')}
        </Notice>
      )}
      {isInMeters && zone !== undefined && (
        <>
          <SelectField
            label={t('Coordinate system (zone)')}
            value={zoneId}
            options={zones.map((each) => ({ value: each.id, label: labelOf(each) }))}
            onChange={chooseZone}
          />
          <Choice label={t('Placed by')} value={way} options={WAYS} onChange={setWay} />
        </>
      )}
      {isInMeters && zone !== undefined && way === 'points' && (
        <PointMaps drawing={drawing} zone={zone} points={points} onChange={placeBy} />
      )}
      {isInMeters && zone !== undefined && way === 'origin' && (
        <div class={fieldStyles.fields}>
          <NumberField label={t('Origin, x')} unit="m" value={plane.x} onInput={(x = 0) => setPlane({ ...plane, x })} />
          <NumberField label={t('Origin, y')} unit="m" value={plane.y} onInput={(y = 0) => setPlane({ ...plane, y })} />
          <NumberField
            label={t('Rotation')}
            unit="°"
            value={plane.turn}
            onInput={(turn = 0) => setPlane({ ...plane, turn })}
          />
        </div>
      )}
      <Failures
        title={t('{count} cannot be used', { count: countText(drawing.unusable.length) })}
        rows={drawing.unusable.map(({ where, why }) => [`${where}:`, why])}
      />
      <div>
        <Button kind="main" disabled={!used} onClick={() => void match()}>
          {t('Compare with the hub')}
        </Button>
      </div>
    </div>
  );
}

interface LayerRow {
  readonly layer: Layer;
  readonly index: number;
  readonly choice: LayerChoice;
}

function layerColumns({
  mayBeZones,
  onChange,
}: {
  readonly mayBeZones: boolean;
  readonly onChange: (index: number, choice: Partial<LayerChoice>) => void;
}): readonly Column<LayerRow>[] {
  return [
    { key: 'layer', title: t('Layer'), isHeading: true, cell: ({ layer }) => layer.name },
    { key: 'shapes', title: t('Shapes'), isNumber: true, cell: ({ layer }) => countText(layer.shapes.length) },
    {
      key: 'becomes',
      title: t('Becomes'),
      cell: ({ layer: { name }, choice, index }) => (
        <Select
          class={styles.becomes}
          aria-label={t('{name} becomes', { name })}
          value={choice.becomes}
          options={BECOMES.filter(({ value }) => mayBeZones || value !== 'zones')}
          onChange={(becomes) => onChange(index, { becomes })}
        />
      ),
    },
    {
      key: 'floor',
      title: t('Floor'),
      cell: ({ layer: { name }, choice, index }) => (
        <NumberInput
          class={styles.floor}
          aria-label={t('Floor of {name}', { name })}
          placeholder={t('All')}
          step="1"
          disabled={choice.becomes === 'none'}
          value={choice.floor}
          onInput={(floor) => onChange(index, { floor })}
        />
      ),
    },
  ];
}

/** Fetches the fences and zones that the user may read. */
async function readExisting(): Promise<Existing> {
  const [fences, zones] = await Promise.all([
    can('READ', '/fences/summary') ? listEntities('fences') : [],
    can('READ', '/zones/summary') ? listEntities('zones') : [],
  ]);
  return { fences: mapById(fences), zones: mapById(zones) };
}

function mapById<E extends { readonly id: string }>(entities: readonly E[]): ReadonlyMap<string, E> {
  return new Map(entities.map((entity) => [entity.id, entity]));
}

/** Initial choice: layers with names such as `zones` become zones. */
function firstChoice({ name }: Layer): LayerChoice {
  return { becomes: /^(zone|level)s?$/i.test(name) ? 'zones' : 'fences', floor: undefined };
}
