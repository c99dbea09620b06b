import { Page } from '../controls/page.tsx';
import { Tabs, useView } from '../controls/tabs.tsx';
import { t } from '../languages/language.ts';
import { LogView } from './log_view.tsx';
import { OccupancyView } from './occupancy_view.tsx';

const VIEWS = [
  { value: 'log', label: t('Log') },
  { value: 'occupancy', label: t('Occupancy') },
] as const;

/** Page with the events of the site, and the occupancy of its fences. */
export function EventsPage() {
  const [view, setView] = useView('/events', VIEWS);
  return (
    <Page title={t('Events')} lead={t('Entries, exits, collisions and changes, as they happen.')}>
      <Tabs label={t('Views')} value={view} options={VIEWS} onChange={setView} />
      {view === 'log' ? <LogView /> : <OccupancyView />}
    </Page>
  );
}
