import { useEffect, useRef, useState } from 'preact/hooks';
import type { Location } from '../../model/location.ts';
import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';
import { Button, ButtonLink } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import flow from '../controls/flow.module.css';
import { Empty, Notice } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { SearchInput } from '../controls/search_input.tsx';
import { ago, useNow } from '../controls/time.ts';
import { toastError } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { can } from '../hub/access.ts';
import { batteryText } from '../hub/battery.ts';
import { labelOf } from '../hub/entity_kinds.ts';
import { searchEntities } from '../hub/entity_search.ts';
import { mapPath } from '../hub/page_paths.ts';
import { entityPath, get } from '../hub/rest.ts';
import { useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { AssignDialog } from '../lists/assign_dialog.tsx';
import styles from './finder.module.css';
import { canScan, scan, tagIn } from './scanner.ts';

const FOUND_MAX = 20;
const EVERY_MS = 3_000;

/** Finder for phones: scans or searches a tag, shows it on the map, and assigns it. */
export function FinderPage() {
  const providers = useEntities('providers');
  const trackables = useEntities('trackables');
  const text = urlParam('tag') ?? '';
  const [assigned, setAssigned] = useState<LocationProvider>();
  const exact = providers.get(text);
  const found =
    exact !== undefined
      ? [exact]
      : searchEntities({ providers, trackables }, text, FOUND_MAX).flatMap(({ kind, entity }) => {
          if (kind === 'providers') return [entity as LocationProvider];
          return (entity as Trackable).location_providers?.flatMap((id) => providers.get(id) ?? []) ?? [];
        });
  const shown = [...new Set(found)].slice(0, FOUND_MAX);
  return (
    <Page title={t('Finder')} lead={t('Scan the code of a tag, or enter its id or name.')}>
      <Scanner onFound={(tag) => setUrlParams({ tag })} />
      <SearchInput
        label={t('Id or name of a tag')}
        hint={t('Id or name of a tag')}
        text={text}
        onInput={(tag) => setUrlParams({ tag })}
      />
      {text.trim() !== '' && shown.length === 0 && <Empty icon="search" title={t('No tag with this id or name')} />}
      {text.trim() !== '' &&
        shown.map((provider) => (
          <Tag
            key={provider.id}
            provider={provider}
            carrier={[...trackables.values()].find(({ location_providers: ids }) => ids?.includes(provider.id))}
            onAssign={() => setAssigned(provider)}
          />
        ))}
      {assigned !== undefined && <AssignDialog provider={assigned} onClose={() => setAssigned(undefined)} />}
    </Page>
  );
}

function Scanner({ onFound }: { readonly onFound: (tag: string) => void }) {
  const [isOn, setOn] = useState(false);
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const element = video.current;
    if (!isOn || element === null) return undefined;
    const scanning = new AbortController();
    scan(element, scanning.signal).then(
      (code) => {
        if (code === undefined) return;
        setOn(false);
        onFound(tagIn(code));
      },
      (error) => {
        setOn(false);
        toastError(error);
      },
    );
    return () => scanning.abort();
  }, [isOn]);
  if (!canScan()) {
    return <Notice>{t('This browser cannot scan codes here. Enter the id that is printed on the tag.')}</Notice>;
  }
  return (
    <>
      {isOn && (
        <video ref={video} class={styles.video} aria-label={t('Camera')} muted playsInline>
          <track kind="captions" />
        </video>
      )}
      <Button kind={isOn ? 'plain' : 'main'} onClick={() => setOn(!isOn)}>
        {isOn ? t('Stop scanning') : t('Scan a code')}
      </Button>
    </>
  );
}

/** A found tag, with its last location. */
function Tag({
  provider,
  carrier,
  onAssign,
}: {
  readonly provider: LocationProvider;
  readonly carrier: Trackable | undefined;
  readonly onAssign: () => void;
}) {
  const location = useLastLocation(provider.id);
  const nowMs = useNow(EVERY_MS);
  const seenMs = Date.parse(location?.timestamp_generated ?? '');
  const battery = location?.properties == null ? undefined : batteryText(location.properties);
  const facts = [
    location === undefined ? t('No location yet') : t('Last seen {ago}', { ago: ago(nowMs - seenMs) }),
    ...(battery === undefined ? [] : [t('battery {level}', { level: battery })]),
    carrier === undefined ? t('Not assigned') : t('Assigned to {name}', { name: labelOf(carrier) }),
  ];
  const onMap = carrier === undefined ? mapPath('providers', provider.id, { isFollowed: true }) : undefined;
  return (
    <Card title={labelOf(provider)}>
      {labelOf(provider) !== provider.id && <p class={typography.faint}>{provider.id}</p>}
      <p>{facts.join(' · ')}</p>
      <div class={flow.row}>
        {location !== undefined && (
          <ButtonLink
            kind="main"
            icon="map"
            href={onMap ?? mapPath('trackables', carrier?.id ?? '', { isFollowed: true })}
          >
            {t('Show on the map')}
          </ButtonLink>
        )}
        {carrier === undefined && can('UPDATE', '/trackables') && (
          <Button icon="link" onClick={onAssign}>
            {t('Assign to a trackable')}
          </Button>
        )}
      </div>
    </Card>
  );
}

/** Last location of a provider, polled; undefined without one. */
function useLastLocation(id: string): Location | undefined {
  const [location, setLocation] = useState<Location>();
  useEffect(() => {
    let isOver = false;
    const load = (): void => {
      get<Location>(`${entityPath('providers', id)}/location`).then(
        (found) => !isOver && setLocation(found),
        // A provider without a location has none to show.
        () => !isOver && setLocation(undefined),
      );
    };
    load();
    const timer = setInterval(load, EVERY_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [id]);
  return location;
}
