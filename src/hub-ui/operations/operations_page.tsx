import { Card } from '../controls/card.tsx';
import { Page } from '../controls/page.tsx';
import { Tabs, useView } from '../controls/tabs.tsx';
import typography from '../controls/typography.module.css';
import { API_PATH, PREFIX } from '../hub/api_path.ts';
import { settings } from '../hub/settings.ts';
import { t } from '../languages/language.ts';
import { License } from './license.tsx';
import styles from './operations_page.module.css';
import { Overview } from './overview.tsx';
import { Sessions } from './sessions.tsx';
import { Sources } from './sources.tsx';
import { Usage } from './usage.tsx';

const VIEWS = [
  { value: 'overview', label: t('Overview') },
  { value: 'sources', label: t('Sources') },
  { value: 'sessions', label: t('Sessions') },
  { value: 'usage', label: t('Usage') },
  { value: 'license', label: t('License') },
] as const;

const LINKS: readonly (readonly [string, string, string])[] = [
  [`${PREFIX}/hub/docs`, t('REST API'), t('Read and try every request')],
  [`${PREFIX}/hub/docs/socket`, t('WebSocket API'), t('Read and try every topic')],
  [`${API_PATH}/openapi.json`, t('OpenAPI document'), t('For generators and tools')],
  [`${API_PATH}/asyncapi.json`, t('AsyncAPI document'), t('For generators and tools')],
  [`${PREFIX}/hub/metrics`, t('Metrics'), t('In the text format of Prometheus')],
];

/** Page with the state of the hub. */
export function OperationsPage() {
  const [view, setView] = useView('/operations', VIEWS);
  return (
    <Page title={t('Operations')} lead={t('The state of the hub, and what it is doing.')}>
      <Tabs label={t('Views')} value={view} options={VIEWS} onChange={setView} />
      {view === 'overview' && <Overview />}
      {view === 'sources' && <Sources />}
      {view === 'sessions' && <Sessions />}
      {view === 'usage' && <Usage />}
      {view === 'license' && <License />}
      <ApiLinks />
    </Page>
  );
}

/** Links to the APIs and their documents. */
function ApiLinks() {
  return (
    <Card title={t('API of version {version}', { version: settings.value.hub_version })}>
      <ul class={styles.links}>
        {LINKS.map(([href, name, about]) => (
          <li key={href}>
            <a href={href} target="_blank" rel="noreferrer">
              {name}
            </a>
            <span class={typography.faint}>{about}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
