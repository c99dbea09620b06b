import type { ComponentChildren } from 'preact';
import { Route, Router, Switch, useLocation } from 'wouter-preact';
import { lazyPage } from './controls/lazy.tsx';
import { Link } from './controls/link.tsx';
import { Empty } from './controls/notice.tsx';
import { Page } from './controls/page.tsx';
import { session } from './hub/access.ts';
import { UI_PATH } from './hub/api_path.ts';
import type { Kind } from './hub/entity_kinds.ts';
import { loadPageTexts, t } from './languages/language.ts';
import { Account, Layout } from './shell/layout.tsx';
import { mayOpen, pageAt } from './shell/pages.ts';
import { SessionEnded, SignIn } from './signin/sign_in.tsx';

const MapPage = lazyPage(async () => (await import('./map_page/map_page.tsx')).MapPage);
const HomePage = otherPage(async () => (await import('./home/home_page.tsx')).HomePage);
const FirstStepsPage = otherPage(async () => (await import('./first_steps/first_steps_page.tsx')).FirstStepsPage);
const ZonesPage = setUpPage('zones');
const AnchorsPage = setUpPage('anchors');
const FencesPage = setUpPage('fences');
const TrackablesPage = setUpPage('trackables');
const ProvidersPage = setUpPage('providers');
const RulesPage = otherPage(async () => (await import('./setup/rules/rules_page.tsx')).RulesPage);
const ListsPage = otherPage(async () => (await import('./lists/lists_page.tsx')).ListsPage);
const AlertsPage = otherPage(async () => (await import('./alerts/alerts_page.tsx')).AlertsPage);
const EventsPage = otherPage(async () => (await import('./events/events_page.tsx')).EventsPage);
const FlowsPage = otherPage(async () => (await import('./history/flows_page.tsx')).FlowsPage);
const SinksPage = otherPage(async () => (await import('./sinks/sinks_page.tsx')).SinksPage);
const SourcesPage = otherPage(async () => (await import('./sources/sources_page.tsx')).SourcesPage);
const LinksPage = otherPage(async () => (await import('./links/links_page.tsx')).LinksPage);
const KeysPage = otherPage(async () => (await import('./keys/keys_page.tsx')).KeysPage);
const AuditPage = otherPage(async () => (await import('./audit/audit_page.tsx')).AuditPage);
const WalkTestsPage = otherPage(async () => (await import('./walk_tests/walk_tests_page.tsx')).WalkTestsPage);
const MusterPage = otherPage(async () => (await import('./muster/muster_page.tsx')).MusterPage);
const FinderPage = otherPage(async () => (await import('./finder/finder_page.tsx')).FinderPage);
const ReportsPage = otherPage(async () => (await import('./reports/reports_page.tsx')).ReportsPage);
const MethodsPage = otherPage(async () => (await import('./methods/methods_page.tsx')).MethodsPage);
const OperationsPage = otherPage(async () => (await import('./operations/operations_page.tsx')).OperationsPage);

/** All pages by their paths below /hub-ui. `/zones/*?` matches the page and all paths below it. */
export function App() {
  if (session.value?.state === 'out') return <SignIn session={session.value} />;
  return (
    <Router base={UI_PATH}>
      <SessionEnded />
      <Layout account={session.value && <Account session={session.value} />}>
        <Permitted>
          <Switch>
            <Route path="/" component={MapPage} />
            <Route path="/home/*?" component={HomePage} />
            <Route path="/first-steps" component={FirstStepsPage} />
            <Route path="/zones/*?" component={ZonesPage} />
            <Route path="/anchors/*?" component={AnchorsPage} />
            <Route path="/fences/*?" component={FencesPage} />
            <Route path="/trackables/*?" component={TrackablesPage} />
            <Route path="/providers/*?" component={ProvidersPage} />
            <Route path="/rules/*?" component={RulesPage} />
            <Route path="/lists/*?" component={ListsPage} />
            <Route path="/alerts/*?" component={AlertsPage} />
            <Route path="/events/*?" component={EventsPage} />
            <Route path="/flows/*?" component={FlowsPage} />
            <Route path="/sinks/*?" component={SinksPage} />
            <Route path="/sources/*?" component={SourcesPage} />
            <Route path="/links/*?" component={LinksPage} />
            <Route path="/keys/*?" component={KeysPage} />
            <Route path="/audit/*?" component={AuditPage} />
            <Route path="/walk-tests/*?" component={WalkTestsPage} />
            <Route path="/muster/*?" component={MusterPage} />
            <Route path="/finder/*?" component={FinderPage} />
            <Route path="/reports/*?" component={ReportsPage} />
            <Route path="/methods/*?" component={MethodsPage} />
            <Route path="/operations/*?" component={OperationsPage} />
            <Route component={NoSuchPage} />
          </Switch>
        </Permitted>
      </Layout>
    </Router>
  );
}

/** A page whose texts the first view does not load. */
function otherPage(load: Parameters<typeof lazyPage>[0]) {
  return lazyPage(async () => {
    await loadPageTexts();
    return load();
  });
}

function setUpPage(kind: Kind) {
  return otherPage(async () => (await import('./setup/entity_pages.tsx')).entityPage(kind));
}

/** Renders a page, or a notice if the user may not read anything on it. */
function Permitted({ children }: { readonly children: ComponentChildren }) {
  const [address] = useLocation();
  const place = pageAt(address);
  if (place === undefined || mayOpen(place)) return <>{children}</>;
  return (
    <Page title={place.label}>
      <Empty icon="lock" title={t('You do not have access to this page')}>
        <p>{t('Access depends on your roles, which the operator of the hub can change.')}</p>
      </Empty>
    </Page>
  );
}

function NoSuchPage() {
  return (
    <Page title={t('Nothing here')}>
      <Empty icon="map" title={t('There is no such page')}>
        <p>
          <Link href="/">{t('Go to the map')}</Link>
        </p>
      </Empty>
    </Page>
  );
}
