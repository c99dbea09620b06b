import type MapBrowserEvent from 'ol/MapBrowserEvent.js';
import { useLayoutEffect } from 'preact/hooks';
import { IconButton } from '../controls/button.tsx';
import { Icon } from '../controls/icons.tsx';
import typography from '../controls/typography.module.css';
import { setUrlParams } from '../controls/url_state.ts';
import { labelOf } from '../hub/entity_kinds.ts';
import { storeOf } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import type { MapSelection } from '../map/view/map_url.ts';
import { useMap } from '../map/view/map_view.tsx';
import styles from './follow.module.css';

/** Whether the selection is a moving object, which can be followed. */
export function isMovable(selection: MapSelection | undefined): selection is MapSelection {
  return selection?.kind === 'trackables' || selection?.kind === 'providers';
}

export function follow(isFollowed: boolean): void {
  setUrlParams({ follow: isFollowed ? 1 : undefined });
}

/**
 * Keyboard and pointer control of following: F toggles it, panning the map or Escape ends it. `hasEscape` is false while
 * something else handles Escape.
 */
export function useFollow(
  selection: MapSelection | undefined,
  { isFollowed, hasEscape }: { readonly isFollowed: boolean; readonly hasEscape: boolean },
): void {
  const { map } = useMap();
  const canFollow = isMovable(selection);
  // Runs before the first paint, because the user may pan at once.
  useLayoutEffect(() => {
    if (!canFollow) return;
    const keys = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (target.closest('input, textarea, select, dialog') !== null) return;
      const isOnMap = target === map.getTargetElement();
      if (event.key === 'f') follow(!isFollowed);
      else if (isFollowed && event.key === 'Escape' && hasEscape) follow(false);
      else if (isFollowed && isOnMap && event.key.startsWith('Arrow')) follow(false);
    };
    // A gesture with two fingers turns and zooms.
    const drag = ({ activePointers }: MapBrowserEvent): void => {
      if ((activePointers?.length ?? 0) < 2) follow(false);
    };
    addEventListener('keydown', keys);
    if (isFollowed) map.on('pointerdrag', drag);
    return () => {
      removeEventListener('keydown', keys);
      map.un('pointerdrag', drag);
    };
  }, [map, canFollow, isFollowed, hasEscape]);
}

/** Chip with the name of the followed object. */
export function FollowChip({ selection: { kind, id } }: { readonly selection: MapSelection }) {
  const entity = storeOf(kind).items.value.get(id);
  return (
    <div class={styles.chip} role="status" data-follow>
      <Icon name="target" />
      <span class={typography.cut}>{t('Following {name}', { name: entity === undefined ? id : labelOf(entity) })}</span>
      <kbd class={styles.key}>Esc</kbd>
      <IconButton icon="close" label={t('Stop following')} onClick={() => follow(false)} />
    </div>
  );
}
