import type MapBrowserEvent from 'ol/MapBrowserEvent.js';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { Choice, IconButton } from '../../controls/button.tsx';
import { ExpressionField } from '../../controls/expression_field.tsx';
import { NumberField } from '../../controls/field.tsx';
import { Icon } from '../../controls/icons.tsx';
import { Notice } from '../../controls/notice.tsx';
import typography from '../../controls/typography.module.css';
import { useEscape } from '../../controls/use_escape.ts';
import { useRepeated } from '../../controls/use_loaded.ts';
import { labelOf, SINGULAR } from '../../hub/entity_kinds.ts';
import { columnAt, errorAt, RequestError } from '../../hub/rest.ts';
import { pause } from '../../hub/retry.ts';
import { storeOf } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import { countedText, metersText } from '../../languages/numbers.ts';
import { type DrawnShape, useDrawnShape } from '../../map/view/draw_shape.ts';
import type { MapSelection } from '../../map/view/map_url.ts';
import { useMap } from '../../map/view/map_view.tsx';
import { errorText } from '../../problems/sentences.ts';
import styles from './find.module.css';
import {
  COUNT_MAX,
  type FindTerms,
  type Found,
  type FoundKind,
  type FoundObject,
  findHere,
  type Place,
} from './find_here.ts';
import { FoundLayer } from './found_layer.tsx';

const COUNT = 10;
/** Delay that combines the keystrokes of a condition into one search. */
const TYPING_MS = 250;
/** Objects move, so a search is repeated. */
const REPEAT_MS = 2_000;
const EXAMPLE = 'accuracy < 5';

const NONE: readonly FoundObject[] = [];

type Way = 'point' | DrawnShape;

/** Tool that finds the objects nearest to a clicked point, or those in a drawn area. */
export function FindTool({
  floor,
  onFound,
  onClose,
}: {
  readonly floor: number | undefined;
  readonly onFound: (selection: MapSelection) => void;
  readonly onClose: () => void;
}) {
  const [way, setWay] = useState<Way>('point');
  const [place, setPlace] = useState<Place>();
  const [kind, setKind] = useState<FoundKind>('trackables');
  const [count, setCount] = useState<number | undefined>(COUNT);
  const [radius, setRadius] = useState<number>();
  const [where, setWhere] = useState('');
  const limit = Math.min(COUNT_MAX, Math.max(1, Math.round(count ?? COUNT)));
  const reach = radius !== undefined && radius > 0 ? radius : undefined;
  const { found, error } = useFound(place, { kind, count: limit, radius: reach, where, floor });
  useEscape(onClose);
  useClickedPoint(way === 'point', (at) => setPlace({ kind: 'point', at }));
  useDrawnShape(way === 'point' ? undefined : way, (area) => setPlace({ kind: 'area', area }));
  const change = (next: Way): void => {
    setWay(next);
    if ((next === 'point') !== (place?.kind === 'point')) setPlace(undefined);
  };
  const objects = useMemo(() => ordered(found?.objects ?? NONE), [found]);
  return (
    <>
      <FoundLayer place={place} radius={place?.kind === 'point' ? reach : undefined} objects={objects} />
      <aside class={styles.panel} aria-label={t('Find here')} data-find>
        <header class={styles.head}>
          <h2>{t('Find here')}</h2>
          <IconButton icon="close" label={t('Stop finding')} onClick={onClose} />
        </header>
        <div class={styles.terms}>
          <Choice
            label={t('Place')}
            value={way}
            onChange={change}
            options={[
              { value: 'point', label: t('Point') },
              { value: 'lasso', label: t('Lasso') },
              { value: 'rectangle', label: t('Rectangle') },
            ]}
          />
          <Choice
            label={t('Objects')}
            value={kind}
            onChange={setKind}
            options={[
              { value: 'trackables', label: t('Trackables') },
              { value: 'providers', label: t('Providers') },
            ]}
          />
          {way === 'point' && (
            <div class={styles.pair}>
              <NumberField label={t('At most')} min={1} max={COUNT_MAX} step="1" value={count} onInput={setCount} />
              <NumberField label={t('Within')} min={0} unit="m" value={radius} onInput={setRadius} />
            </div>
          )}
          <ExpressionField
            label={t('Condition')}
            example={EXAMPLE}
            expression={where}
            error={errorAt(error, 'where')}
            column={columnAt(error, 'where')}
            onInput={setWhere}
          />
        </div>
        <div class={styles.results}>
          {error !== undefined && errorAt(error, 'where') === undefined && (
            <Notice tone="danger">{errorText(error)}</Notice>
          )}
          {place === undefined && (
            <p class={typography.soft}>
              {way === 'point' ? t('Click the map to find nearby objects.') : t('Draw around an area of the map.')}
            </p>
          )}
          {found !== undefined && error === undefined && (
            <Objects objects={objects} isPartial={found.isPartial} kind={kind} onFound={onFound} />
          )}
        </div>
      </aside>
    </>
  );
}

/** Orders the objects of an area by name. Those near a point are in the order of their distances. */
function ordered(objects: readonly FoundObject[]): readonly FoundObject[] {
  if (objects[0]?.distance !== undefined) return objects;
  return objects.toSorted((one, other) => nameOf(one).localeCompare(nameOf(other), undefined, { numeric: true }));
}

function nameOf({ kind, id }: FoundObject): string {
  return labelOf(storeOf(kind).items.value.get(id) ?? { id });
}

function Objects({
  objects,
  isPartial,
  kind,
  onFound,
}: {
  readonly objects: readonly FoundObject[];
  /** Whether there are more. */
  readonly isPartial: boolean;
  readonly kind: FoundKind;
  readonly onFound: (selection: MapSelection) => void;
}) {
  return (
    <>
      <p class={typography.soft} role="status">
        {isPartial
          ? t('{things}, and more', { things: countedText(objects.length, SINGULAR[kind] as 'trackable') })
          : countedText(objects.length, SINGULAR[kind] as 'trackable')}
      </p>
      <ol class={styles.list}>
        {objects.map((object, i) => (
          <li key={object.id}>
            <button type="button" class={styles.found} onClick={() => onFound(object)}>
              <span class={styles.number}>{i + 1}</span>
              <Icon name={SINGULAR[kind] as 'trackable' | 'provider'} />
              <span class={`${typography.cut} ${styles.label}`}>{nameOf(object)}</span>
              {object.distance !== undefined && <span class={styles.distance}>{metersText(object.distance)}</span>}
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}

/** The objects at a place, while they move; undefined without a place. The last ones stay until an answer or an error. */
function useFound(
  place: Place | undefined,
  terms: FindTerms,
): { readonly found: Found | undefined; readonly error: RequestError | undefined } {
  const { plane } = useMap();
  const [state, setState] = useState<{ readonly found?: Found; readonly error?: RequestError }>({});
  const { kind, count, radius, where, floor } = terms;
  useRepeated(
    async (signal) => {
      if (place === undefined) {
        setState({});
        return undefined;
      }
      try {
        await pause(TYPING_MS, signal);
        const found = await findHere(place, terms, plane, signal);
        if (!signal.aborted) setState({ found });
      } catch (error) {
        if (signal.aborted) return undefined;
        if (!(error instanceof RequestError)) throw error;
        setState({ error });
        // A search that is invalid stays so until its terms change.
        if (error.status >= 400 && error.status < 500) return undefined;
      }
      return REPEAT_MS;
    },
    [place, kind, count, radius, where, floor, plane],
  );
  return { found: state.found, error: state.error };
}

/** Reports the map coordinates of each click. */
function useClickedPoint(isOn: boolean, onPoint: (at: readonly number[]) => void): void {
  const { map } = useMap();
  // Runs before the hint is painted, because the user may click at once.
  useLayoutEffect(() => {
    if (!isOn) return;
    const click = ({ coordinate }: MapBrowserEvent): void => onPoint(coordinate);
    map.on('click', click);
    return () => {
      map.un('click', click);
    };
  });
}
