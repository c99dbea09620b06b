import pageStyles from '../controls/page.module.css';
import { useTitle } from '../controls/page.tsx';
import typography from '../controls/typography.module.css';
import { t } from '../languages/language.ts';
import { isWallFromUrl } from '../map/view/map_url.ts';
import mapStyles from '../map/view/map_view.module.css';
import { DemoNote } from '../map_page/demo_note.tsx';
import { MapArea } from '../map_page/map_page.tsx';
import { AlertTile } from './alert_tile.tsx';
import { FenceTiles } from './fence_tiles.tsx';
import { FirstStepsBar } from './first_steps_bar.tsx';
import { FleetTiles } from './fleet_tiles.tsx';
import styles from './home_page.module.css';

/** Home: the figures of the site, with their last six hours, above the live map. */
export function HomePage() {
  useTitle(t('Home'));
  return (
    <div class={`${pageStyles.full} ${mapStyles.page}`}>
      <h1 class={typography.hidden}>{t('Home')}</h1>
      <DemoNote />
      <FirstStepsBar />
      {!isWallFromUrl() && (
        <ul class={styles.tiles} aria-label={t('Key figures')}>
          <FleetTiles />
          <AlertTile />
          <FenceTiles />
        </ul>
      )}
      <MapArea />
    </div>
  );
}
