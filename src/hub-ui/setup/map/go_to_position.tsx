import type { Extent } from 'ol/extent';
import { useId, useState } from 'preact/hooks';
import { Button } from '../../controls/button.tsx';
import fieldStyles from '../../controls/field.module.css';
import { FieldError } from '../../controls/field.tsx';
import { toastError } from '../../controls/toasts.tsx';
import { t } from '../../languages/language.ts';
import { fitExtent } from '../../map/navigation/initial_view.ts';
import { moveView } from '../../map/view/move_view.ts';
import { toMap } from '../../map/plane/plane.ts';
import { useMap } from '../../map/view/map_view.tsx';
import styles from './go_to_position.module.css';
import { type ReadPosition, readPosition, unknownPlace } from './read_position.ts';

const POSITION_ZOOM = 19;

/** Zoom levels for cities and countries of the world map. */
const PLACE_ZOOM = { city: 11, country: 5 } as const;

interface Reached {
  readonly position?: ReadPosition;
  readonly problem?: string;
}

/**
 * Search field that moves the map to a position or a named place. `extentNamed` finds entities of the site by name. On an
 * empty map it is the only way to find a place.
 */
export function GoToPlace({ extentNamed }: { readonly extentNamed: (name: string) => Extent | undefined }) {
  const { map, plane } = useMap();
  const [text, setText] = useState('');
  const [{ position, problem }, setReached] = useState<Reached>({});
  const id = useId();
  const goTo = (reached: ReadPosition): void => {
    setReached({ position: reached });
    const center = toMap(plane, [reached.longitude, reached.latitude]);
    moveView(map.getView(), { center, zoom: POSITION_ZOOM });
  };
  const goToName = async (): Promise<void> => {
    const extent = extentNamed(text);
    if (extent !== undefined) {
      fitExtent(map, extent);
      return;
    }
    const { placeNamed } = await import('../../map/ground/world_draw.ts');
    const place = await placeNamed(text);
    if (place === undefined) setReached({ problem: unknownPlace(text) });
    else moveView(map.getView(), { center: [...place.at], zoom: PLACE_ZOOM[place.kind] });
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    setReached({});
    const read = readPosition(text);
    if (read === undefined) void goToName().catch(toastError);
    else if (typeof read === 'string') setReached({ problem: read });
    else goTo(read);
  };
  return (
    <form class={styles.goTo} onSubmit={submit}>
      <FieldError id={id} text={problem} />
      {position !== undefined && <Shown position={position} onSwap={goTo} />}
      <input
        class={fieldStyles.input}
        aria-label={t('Go to a position or place')}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : id}
        placeholder={t('Go to a position or place')}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setReached({});
        }}
      />
    </form>
  );
}

/** Labeled position that the map has moved to, with a button that swaps longitude and latitude. */
function Shown({
  position: { longitude, latitude, canSwap },
  onSwap,
}: {
  readonly position: ReadPosition;
  readonly onSwap: (swapped: ReadPosition) => void;
}) {
  return (
    <p role="status">
      {t('Longitude {longitude}°, latitude {latitude}°', {
        longitude: degreesText(longitude),
        latitude: degreesText(latitude),
      })}
      {canSwap && (
        <Button kind="quiet" onClick={() => onSwap({ longitude: latitude, latitude: longitude, canSwap })}>
          {t('Swap')}
        </Button>
      )}
    </p>
  );
}

function degreesText(degrees: number): string {
  return String(Number(degrees.toFixed(7)));
}
