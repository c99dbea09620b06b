import { useMemo, useState } from 'preact/hooks';
import type { Anchor } from '../../model/anchor.ts';
import type { Fence } from '../../model/fence.ts';
import type { Zone } from '../../model/zone.ts';
import { Button, Choice } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import fieldStyles from '../controls/field.module.css';
import { Check, NumberField, SelectField, TextField } from '../controls/field.tsx';
import { Spinner } from '../controls/notice.tsx';
import { Failures, Progress } from '../controls/progress.tsx';
import { toast, toastError } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { useLoaded } from '../controls/use_loaded.ts';
import { can } from '../hub/access.ts';
import type { Entities, Kind } from '../hub/entity_kinds.ts';
import { floorsOf } from '../hub/floors.ts';
import { createEntity } from '../hub/rest.ts';
import { type Failure, runAll } from '../hub/run_all.ts';
import { listWritable } from '../hub/writable_entities.ts';
import { t } from '../languages/language.ts';
import { countedText, countText } from '../languages/numbers.ts';
import { type NamedFailure, undoingCreations, useWork, type WorkOptions } from './bulk_work.ts';
import {
  anchorsIn,
  anchorsOnFloor,
  angleOf,
  fencesOnFloor,
  type FenceGrid,
  gridOf,
  ringInMeters,
  sizeOf,
  zoneOnFloor,
} from './copies.ts';
import styles from './copy_dialog.module.css';

/** Limit against mistyped grid sizes. */
const COPIES_MAX = 2_000;
const NAMED_MAX = 100;
const PATTERN_HELP = t(
  'Pattern: {name} is the old name, {floor} the floor, {n} a number, {row} and {column} the position in the grid.',
  { name: '{name}', floor: '{floor}', n: '{n}', row: '{row}', column: '{column}' },
);

interface CopyDialogProps {
  /** Ids of the fences to copy; undefined for all fences of a floor that the user selects. */
  readonly ids: readonly string[] | undefined;
  readonly onClose: () => void;
}

/** Dialog that copies fences to another floor, or one fence to a grid, with a preview. */
export function CopyDialog({ ids, onClose }: CopyDialogProps) {
  const site = useSiteEntities();
  const [mode, setMode] = useState<'floor' | 'grid'>('floor');
  const title = ids === undefined ? t('Copy a floor') : t('Copy {what}', { what: countedText(ids.length, 'fence') });
  if (site === undefined) {
    return (
      <Dialog wide title={title} onClose={onClose}>
        <Spinner />
      </Dialog>
    );
  }
  const fences = ids === undefined ? undefined : site.fences.filter(({ id }) => ids.includes(id));
  const [only] = fences ?? [];
  const choice = fences?.length === 1 && (
    <Choice
      label={t('Copies')}
      value={mode}
      onChange={setMode}
      options={[
        { value: 'floor', label: t('To a floor') },
        { value: 'grid', label: t('Grid or row') },
      ]}
    />
  );
  if (mode === 'grid' && only !== undefined) {
    return <GridCopies {...{ title, choice, onClose }} fence={only} />;
  }
  return <FloorCopies {...{ title, choice, onClose, site }} fences={fences} />;
}

interface SiteEntities {
  readonly fences: readonly Fence[];
  readonly zones: readonly Zone[];
  readonly anchors: readonly Anchor[];
}

/** Loads fences, zones and anchors in writable form; undefined until loaded. */
function useSiteEntities(): SiteEntities | undefined {
  const load = async (): Promise<SiteEntities> => {
    const mayCopyAnchors = can('READ', '/anchors/summary') && can('CREATE', '/anchors');
    const lists = [
      listWritable('fences'),
      listWritable('zones'),
      mayCopyAnchors ? listWritable('anchors') : [],
    ] as const;
    const [fences, zones, anchors] = await Promise.all(lists);
    return { fences, zones, anchors };
  };
  return useLoaded(load, [], { onError: toastError });
}

interface CopiesProps {
  readonly title: string;
  readonly choice: preact.ComponentChildren;
  readonly onClose: () => void;
}

function FloorCopies({
  fences: given,
  site,
  ...frame
}: CopiesProps & { readonly fences: readonly Fence[] | undefined; readonly site: SiteEntities }) {
  const floors = floorsOf([...site.fences, ...site.zones.map(({ floor }) => ({ floor: floor ?? 0 }))]).sort(
    (a, b) => a - b,
  );
  const [from, setFrom] = useState(floors[0] ?? 0);
  const [to, setTo] = useState<number | undefined>(() => (floors.at(-1) ?? 0) + 1);
  const [pattern, setPattern] = useState(t('{name}, floor {floor}', { name: '{name}', floor: '{floor}' }));
  const [hasZones, setHasZones] = useState(false);
  const fences = given ?? site.fences.filter(({ floor }) => floor === from);
  const zones = given === undefined && hasZones ? site.zones.filter((zone) => (zone.floor ?? 0) === from) : [];
  const anchors = anchorsIn(site.anchors, zones);
  const copies = useMemo(() => {
    if (to === undefined) return [];
    const made = zones.map((zone, i) => zoneOnFloor(zone, { floor: to, pattern, n: i + 1 }));
    const zoneIds = new Map(anchors.map(({ zone_id: zoneId }) => [zoneId ?? '', '']));
    const theirs = anchorsOnFloor(anchors, { floor: to, pattern, zoneIds });
    return [...made, ...theirs, ...fencesOnFloor(fences, { floor: to, pattern })];
  }, [fences, zones.length, to, pattern]);
  const make: Make = async (options) => {
    if (to === undefined) return { created: [], failures: [] };
    const zoneIds = new Map<string, string>();
    const created: Created[] = [];
    const zoneFailures = await runAll(
      zones,
      async (zone) => {
        const { id } = await createEntity(
          'zones',
          zoneOnFloor(zone, { floor: to, pattern, n: zones.indexOf(zone) + 1 }),
        );
        created.push({ kind: 'zones', id });
        for (const name of [zone.id, zone.foreign_id]) if (name != null) zoneIds.set(name, id);
      },
      options,
    );
    const on = { floor: to, pattern, zoneIds };
    const anchorFailures = await createAll('anchors', anchorsOnFloor(anchors, on), created, options);
    const fenceFailures = await createAll('fences', fencesOnFloor(fences, on), created, options);
    return { created, failures: [...named(zoneFailures), ...named(anchorFailures), ...named(fenceFailures)] };
  };
  return (
    <CopyFrame {...frame} copies={copies} make={make}>
      <div class={fieldStyles.fields}>
        {given === undefined && (
          <SelectField
            label={t('From floor')}
            value={String(from)}
            options={floors.map((floor) => ({ value: String(floor), label: String(floor) }))}
            onChange={(floor) => setFrom(Number(floor))}
          />
        )}
        <NumberField label={t('To floor')} step="1" value={to} onInput={setTo} />
      </div>
      <TextField label={t('Names')} help={PATTERN_HELP} value={pattern} onInput={setPattern} />
      {given === undefined && can('CREATE', '/zones') && (
        <Check
          label={t('Also copy the zones of the floor, with plans and anchors')}
          checked={hasZones}
          onChange={setHasZones}
        />
      )}
    </CopyFrame>
  );
}

function GridCopies({ fence, ...frame }: CopiesProps & { readonly fence: Fence }) {
  const [columns, setColumns] = useState<number | undefined>(3);
  const [rows, setRows] = useState<number | undefined>(1);
  const [angle, setAngle] = useState<number | undefined>(() => angleOf(fence));
  const size = useMemo(() => sizeOf(fence, angle ?? 0), [fence, angle]);
  const [gapX, setGapX] = useState<number | undefined>(1);
  const [gapY, setGapY] = useState<number | undefined>(1);
  const [pattern, setPattern] = useState('{name} {n}');
  const grid: FenceGrid = {
    columns: Math.max(1, Math.round(columns ?? 1)),
    rows: Math.max(1, Math.round(rows ?? 1)),
    stepX: size.width + (gapX ?? 0),
    stepY: size.height + (gapY ?? 0),
    angle: angle ?? 0,
    pattern,
  };
  const isTooMany = grid.columns * grid.rows > COPIES_MAX;
  const copies = useMemo(() => (isTooMany ? [] : gridOf(fence, grid)), [fence, JSON.stringify(grid), isTooMany]);
  const make: Make = async (options) => {
    const created: Created[] = [];
    return { created, failures: named(await createAll('fences', copies, created, options)) };
  };
  return (
    <CopyFrame
      {...frame}
      copies={copies}
      make={make}
      picture={<GridPicture fences={[fence, ...copies] as readonly Fence[]} />}
    >
      <div class={fieldStyles.fields}>
        <NumberField
          label={t('Columns')}
          step="1"
          min={1}
          value={columns}
          error={isTooMany ? t('This would be more than {most} fences.', { most: countText(COPIES_MAX) }) : undefined}
          onInput={setColumns}
        />
        <NumberField label={t('Rows')} step="1" min={1} value={rows} onInput={setRows} />
        <NumberField label={t('Space between columns')} unit="m" value={gapX} onInput={setGapX} />
        <NumberField label={t('Space between rows')} unit="m" value={gapY} onInput={setGapY} />
        <NumberField
          label={t('Turned by')}
          unit="°"
          help={t('By default, along the longest edge of the fence.')}
          value={angle}
          onInput={setAngle}
        />
      </div>
      <TextField label={t('Names')} help={PATTERN_HELP} value={pattern} onInput={setPattern} />
    </CopyFrame>
  );
}

interface Created {
  readonly kind: Kind;
  readonly id: string;
}

type Make = (
  options: WorkOptions,
) => Promise<{ readonly created: readonly Created[]; readonly failures: readonly NamedFailure[] }>;

function createAll<K extends Kind>(
  kind: K,
  entities: readonly Partial<Entities[K]>[],
  created: Created[],
  options: WorkOptions,
): Promise<Failure<Partial<Entities[K]>>[]> {
  const create = async (entity: Partial<Entities[K]>): Promise<void> => {
    const { id } = await createEntity(kind, entity);
    created.push({ kind, id });
  };
  return runAll(entities, create, options);
}

function named(failures: readonly Failure<{ readonly name?: string | null }>[]): readonly NamedFailure[] {
  return failures.map(({ item, reason }) => ({ label: item.name ?? '', reason }));
}

/** Frame of the dialog: form, preview and action. */
function CopyFrame({
  title,
  choice,
  copies,
  make,
  picture,
  onClose,
  children,
}: CopiesProps & {
  readonly copies: readonly { readonly name?: string | null }[];
  readonly make: Make;
  readonly picture?: preact.ComponentChildren;
  readonly children: preact.ComponentChildren;
}) {
  const { isRunning, failures, count, run } = useWork(onClose);
  const create = async (options: WorkOptions): Promise<readonly NamedFailure[]> => {
    const { created, failures: failed } = await make(options);
    if (created.length > 0)
      toast(t('{count} created', { count: countText(created.length) }), 'ok', undoingCreations(created));
    return failed;
  };
  return (
    <Dialog
      wide
      title={title}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{isRunning ? t('Stop') : t('Cancel')}</Button>
          <Button kind="main" disabled={isRunning || copies.length === 0} onClick={() => void run(create)}>
            {copies.length === 1 ? t('Create 1 copy') : t('Create {count} copies', { count: countText(copies.length) })}
          </Button>
        </>
      }
    >
      {choice}
      {children}
      {isRunning && <Progress label={t('Copying')} done={count} total={copies.length} />}
      <Failures
        title={t('{count} could not be created', { count: countText(failures.length) })}
        rows={failures.map(({ label, reason }) => [label, reason])}
      />
      <div class={styles.outcome}>
        {picture}
        {copies.length === 0 ? (
          <p class={typography.faint}>{t('There is nothing to copy.')}</p>
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls has to be reachable
          <ul class={styles.names} tabIndex={0} aria-label={t('Copies to create')}>
            {copies.slice(0, NAMED_MAX).map(({ name }, index) => (
              <li key={index} class={typography.cut}>
                {name}
              </li>
            ))}
            {copies.length > NAMED_MAX && (
              <li>{t('… and {count} more', { count: countText(copies.length - NAMED_MAX) })}</li>
            )}
          </ul>
        )}
      </div>
    </Dialog>
  );
}

/** Scale drawing of the fence and its copies; north, or the y axis of its zone, is up. */
function GridPicture({ fences }: { readonly fences: readonly Fence[] }) {
  const [first] = fences;
  if (first === undefined) return null;
  const origin = first.region.type === 'Point' ? first.region.coordinates : (first.region.coordinates[0]?.[0] ?? []);
  const shapes = fences.map((fence) => outlineFrom(fence, origin));
  const radius = first.region.type === 'Point' ? (first.radius ?? 1) : 0;
  const xs = shapes.flatMap((shape) => shape.map(([x]) => x));
  const ys = shapes.flatMap((shape) => shape.map(([, y]) => y));
  const [left, right] = [Math.min(...xs) - radius, Math.max(...xs) + radius];
  const [low, high] = [Math.min(...ys) - radius, Math.max(...ys) + radius];
  const margin = Math.max(right - left, high - low, 1) * 0.04;
  const box = [left - margin, -high - margin, right - left + 2 * margin, high - low + 2 * margin];
  return (
    <svg class={styles.picture} viewBox={box.join(' ')} role="img" aria-label={t('The fences from above')}>
      {shapes.map((shape, i) =>
        radius > 0 ? (
          <circle key={i} data-first={i === 0 || undefined} cx={shape[0]?.[0]} cy={-(shape[0]?.[1] ?? 0)} r={radius} />
        ) : (
          <polygon key={i} data-first={i === 0 || undefined} points={shape.map(([x, y]) => `${x},${-y}`).join(' ')} />
        ),
      )}
    </svg>
  );
}

/** Outline of a fence in meters relative to `origin`. */
function outlineFrom(fence: Fence, origin: readonly number[]): readonly (readonly [number, number])[] {
  const { region } = fence;
  if (region.type === 'Point') {
    const line = { ...fence, region: { type: 'Polygon', coordinates: [[origin, region.coordinates]] } } as Fence;
    return ringInMeters(line).slice(1);
  }
  const ring = [origin, ...(region.coordinates[0] ?? [])];
  return ringInMeters({ ...fence, region: { type: 'Polygon', coordinates: [ring] } } as Fence).slice(1);
}
