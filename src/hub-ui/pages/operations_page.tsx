import '../lists/json.css';
import '../operations/operations.css';
import { useLocation, useRoute } from 'wouter-preact';
import { ApiLinks } from '../operations/about.tsx';
import { Licence } from '../operations/licence.tsx';
import { Overview } from '../operations/overview.tsx';
import { Sessions } from '../operations/sessions.tsx';
import { Sources } from '../operations/sources.tsx';
import { Usage } from '../operations/usage.tsx';
import { Page, Tabs } from '../parts/page.tsx';

const VIEWS = [
  { value: 'overview', label: 'Overview' },
  { value: 'sources', label: 'Sources' },
  { value: 'sessions', label: 'Sessions' },
  { value: 'usage', label: 'Usage' },
  { value: 'licence', label: 'Licence' },
] as const;

/** How the hub itself is. */
export function OperationsPage() {
  const [, params] = useRoute('/operations/:view');
  const [, navigate] = useLocation();
  const view = VIEWS.find(({ value }) => value === params?.view)?.value ?? 'overview';
  return (
    <Page title="Operations" lead="How the hub is, and what it does.">
      <Tabs
        label="Views"
        value={view}
        options={VIEWS}
        onChange={(next) => navigate(next === 'overview' ? '/operations' : `/operations/${next}`)}
      />
      {view === 'overview' && <Overview />}
      {view === 'sources' && <Sources />}
      {view === 'sessions' && <Sessions />}
      {view === 'usage' && <Usage />}
      {view === 'licence' && <Licence />}
      <ApiLinks />
    </Page>
  );
}
