import { useLocation, useRoute } from 'wouter-preact';
import { Page } from '../controls/page.tsx';
import type { Option } from '../controls/select.tsx';
import { Tabs } from '../controls/tabs.tsx';
import { t } from '../languages/language.ts';
import { LogView } from './log_view.tsx';
import { OccupancyView } from './occupancy_view.tsx';

type View = 'log' | 'occupancy';

const VIEWS: readonly Option<View>[] = [
  { value: 'log', label: t('Log') },
  { value: 'occupancy', label: t('Occupancy') },
];

/** Page with the events of the site, and the occupancy of its fences. */
export function EventsPage() {
  const [isOccupancy] = useRoute('/events/occupancy');
  const [, navigate] = useLocation();
  const view: View = isOccupancy ? 'occupancy' : 'log';
  return (
    <Page title={t('Events')} lead={t('Entries, exits, collisions and changes, as they happen.')}>
      <Tabs
        label={t('Views')}
        value={view}
        options={VIEWS}
        onChange={(next) => navigate(next === 'log' ? '/events' : '/events/occupancy')}
      />
      {view === 'log' ? <LogView /> : <OccupancyView />}
    </Page>
  );
}
