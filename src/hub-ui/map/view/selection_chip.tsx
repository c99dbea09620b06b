import type { ComponentChildren } from 'preact';
import { type MapSelection, select } from './map_url.ts';
import styles from './selection_chip.module.css';

/** Button inside a sentence that selects the entity it names. */
export function Chip({
  selection,
  children,
}: {
  readonly selection: MapSelection;
  readonly children: ComponentChildren;
}) {
  return (
    <button type="button" class={styles.chip} onClick={() => select(selection)}>
      {children}
    </button>
  );
}
