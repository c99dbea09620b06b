import { useId, useState } from 'preact/hooks';
import fieldStyles from '../controls/field.module.css';
import { t } from '../languages/language.ts';
import { useMap } from '../map/map_view.tsx';
import { toMap } from '../map/plane.ts';
import styles from './go_to_place.module.css';

/** Where the map of the earth ends. */
const LATITUDE_MAX = 85;
const EXAMPLE = t('Enter a longitude and a latitude, such as 8.68, 50.11.');

/** Goes to a longitude and latitude: on a map without anything on it, there is no other way to find a place. */
export function GoToPlace() {
  const { map, plane } = useMap();
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const id = useId();
  const go = (event: Event): void => {
    event.preventDefault();
    const place = readPlace(text);
    setProblem(typeof place === 'string' ? place : undefined);
    if (typeof place !== 'string') map.getView().animate({ center: toMap(plane, place), zoom: 19, duration: 250 });
  };
  return (
    <form class={styles.goTo} onSubmit={go}>
      {problem !== undefined && (
        <p class={fieldStyles.error} role="alert" id={id}>
          {problem}
        </p>
      )}
      <input
        class={fieldStyles.input}
        aria-label={t('Go to longitude, latitude')}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : id}
        placeholder={t('Go to longitude, latitude')}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setProblem(undefined);
        }}
      />
    </form>
  );
}

/**
 * Longitude and latitude, as people write them: with a comma, a semicolon or a space between them, a degree sign or not.
 * A sentence says what is wrong with a text that is no place.
 */
function readPlace(text: string): readonly [longitude: number, latitude: number] | string {
  const parts = text.split(/[,;\s]+/).filter((part) => part !== '');
  if (parts.length === 0) return EXAMPLE;
  const numbers = parts.map((part) => Number(part.replace(/°$/, '').replace('−', '-')));
  if (numbers.some((number) => !Number.isFinite(number))) {
    return t('“{text}” is not a position. {example}', { text: text.trim(), example: EXAMPLE });
  }
  const [longitude, latitude] = numbers;
  if (longitude === undefined || latitude === undefined || numbers.length !== 2) {
    return `${numbers.length === 1 ? t('This is one number') : t('These are {count} numbers', { count: numbers.length })}. ${EXAMPLE}`;
  }
  if (Math.abs(longitude) > 180)
    return t('The longitude comes first and must be from −180 to 180; it is {longitude}.', { longitude });
  if (Math.abs(latitude) > LATITUDE_MAX) {
    return t('The latitude comes second and must be from −{most} to {most}; it is {latitude}.', {
      most: LATITUDE_MAX,
      latitude,
    });
  }
  return [longitude, latitude];
}
