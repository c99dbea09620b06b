import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AlertRule } from '../../model/alert.ts';
import type { MqttHealth } from '../../model/health.ts';
import { Button, ButtonLink } from '../controls/button.tsx';
import { copyText } from '../controls/clipboard.ts';
import flow from '../controls/flow.module.css';
import { Icon } from '../controls/icons.tsx';
import { Spinner } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { ago, useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { can } from '../hub/access.ts';
import { mapPath } from '../hub/page_paths.ts';
import { get } from '../hub/rest.ts';
import { useEntities } from '../hub/stores.ts';
import jsonStyles from '../json/json.module.css';
import { t, tParts } from '../languages/language.ts';
import { lastSeenMs, useTagActivity } from '../lists/fleet_summary.ts';
import styles from './first_steps_page.module.css';
import { curlLine, firstPosition, mqttLine } from './send_lines.ts';

/** Checklist from an empty hub to the first alert. Each step checks itself as soon as the hub has what it needs. */
export function FirstStepsPage() {
  const zones = useEntities('zones');
  const fences = useEntities('fences');
  const located = useLastLocated();
  const rules = useLoaded<readonly AlertRule[]>('/alerts/rules');
  const steps = [zones.size > 0, located !== undefined, fences.size > 0, (rules?.length ?? 0) > 0];
  const position = firstPosition(zones.values());
  return (
    <Page
      title={t('First steps')}
      lead={t('{done} of {total} done', { done: steps.filter(Boolean).length, total: steps.length })}
    >
      <ol class={styles.steps}>
        <Step
          isDone={zones.size > 0}
          title={t('Place your site')}
          about={t('Drop a floor plan on the map, or draw the area in which you locate things.')}
        >
          <div class={flow.row}>
            <ButtonLink kind="main" href="/zones/new?start=plan">
              {t('Load a floor plan')}
            </ButtonLink>
            <ButtonLink href="/zones/new?start=area">{t('Draw it')}</ButtonLink>
          </div>
        </Step>
        <Step
          isDone={located !== undefined}
          title={t('Send a position')}
          about={t('Paste one of these lines into a terminal, or connect your locating system.')}
        >
          <LastLocated located={located} />
          <SendLines position={position} />
          <div class={flow.row}>
            <ButtonLink href="/sources?new=1">{t('Connect a data source')}</ButtonLink>
          </div>
        </Step>
        <Step
          isDone={fences.size > 0}
          title={t('Draw a fence')}
          about={t('The hub reports objects that enter and leave it.')}
        >
          <div class={flow.row}>
            <ButtonLink kind="main" href="/fences/new">
              {t('New fence')}
            </ButtonLink>
          </div>
        </Step>
        <Step
          isDone={(rules?.length ?? 0) > 0}
          title={t('Create an alert rule')}
          about={t('Then send a position inside the fence: the bell counts the alert.')}
        >
          <div class={flow.row}>
            <ButtonLink kind="main" href="/alerts/rules?rule=new">
              {t('New rule')}
            </ButtonLink>
          </div>
        </Step>
      </ol>
    </Page>
  );
}

function Step({
  isDone,
  title,
  about,
  children,
}: {
  readonly isDone: boolean;
  readonly title: string;
  readonly about: string;
  readonly children: ComponentChildren;
}) {
  return (
    <li class={styles.step} data-done={isDone || undefined}>
      <span class={styles.mark}>{isDone && <Icon name="check" />}</span>
      <div class={flow.stack}>
        <div>
          <h2>
            {title} {isDone && <span class={typography.hidden}>{t('Done')}</span>}
          </h2>
          <p class={typography.soft}>{about}</p>
        </div>
        {children}
      </div>
    </li>
  );
}

interface LocatedTag {
  readonly id: string;
  readonly atMs: number;
}

/** The provider that was located last; undefined before the first location. */
function useLastLocated(): LocatedTag | undefined {
  const providers = useEntities('providers');
  useTagActivity(true);
  let last: LocatedTag | undefined;
  for (const provider of providers.values()) {
    const atMs = lastSeenMs('providers', provider);
    if (atMs !== undefined && atMs > (last?.atMs ?? Number.NEGATIVE_INFINITY)) last = { id: provider.id, atMs };
  }
  return last;
}

function LastLocated({ located }: { readonly located: LocatedTag | undefined }) {
  const nowMs = useNow(1_000);
  if (located === undefined) return <Spinner label={t('Listening …')} />;
  return (
    <div class={flow.row} role="status">
      <span>
        {tParts('{name} was located {ago}', {
          name: <strong>{located.id}</strong>,
          ago: ago(Math.max(0, nowMs - located.atMs)),
        })}
      </span>
      <ButtonLink kind="quiet" icon="map" href={mapPath('providers', located.id)}>
        {t('Show on the map')}
      </ButtonLink>
    </div>
  );
}

function SendLines({ position }: { readonly position: readonly [number, number] }) {
  const mqtt = useLoaded<MqttHealth>('/health/mqtt');
  return (
    <>
      <Line protocol="REST" text={curlLine(position)} />
      {mqtt?.enabled === true && mqtt.broker !== undefined ? (
        <Line protocol="MQTT" text={mqttLine(mqtt.broker, position)} />
      ) : (
        <p class={typography.soft}>
          {tParts('For MQTT, set {setting} to the address of your broker.', { setting: <code>mqtt_address</code> })}
        </p>
      )}
    </>
  );
}

function Line({ protocol, text }: { readonly protocol: string; readonly text: string }) {
  return (
    <section class={styles.line} aria-label={protocol}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs keyboard focus */}
      <pre class={jsonStyles.box} tabIndex={0}>
        {text}
      </pre>
      <Button icon="copy" onClick={() => void copyText(text, t('Command'))}>
        {t('Copy the {name} command', { name: protocol })}
      </Button>
    </section>
  );
}

/** Reads an API path once; undefined until it has loaded, if that fails, and if the user may not read it. */
function useLoaded<T>(path: string): T | undefined {
  const [value, setValue] = useState<T>();
  useEffect(() => {
    if (!can('READ', path)) return;
    get<T>(path).then(setValue, () => undefined);
  }, [path]);
  return value;
}
