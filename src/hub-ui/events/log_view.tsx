import { useMemo, useState } from 'preact/hooks';
import { Button, ShowMore } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import flow from '../controls/flow.module.css';
import { Link } from '../controls/link.tsx';
import { Empty, Notice } from '../controls/notice.tsx';
import { SearchInput } from '../controls/search_input.tsx';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { matchesWords, wordsOf } from '../hub/entity_search.ts';
import { clearEvents, type LoggedEvent, loggedEvents, rejectedTopics } from '../hub/event_log.ts';
import { connection } from '../hub/live.ts';
import { useEntities } from '../hub/stores.ts';
import { t, tParts } from '../languages/language.ts';
import { GROUP_NAMES, GROUPS, type Group, EVENT_LOOKS } from './event_looks.ts';
import { searchedIn } from './event_text.ts';
import { LogRows } from './log_rows.tsx';
import styles from './log_view.module.css';

const SHOWN_STEP = 100;

/** Event log with filters, newest first. */
export function LogView() {
  // The log shows current names, also of entities that have been renamed since.
  const trackables = useEntities('trackables');
  const names = [trackables, useEntities('providers'), useEntities('fences'), useEntities('zones')];
  const [paused, setPaused] = useState<readonly LoggedEvent[]>();
  const [most, setMost] = useState(SHOWN_STEP);
  const text = urlParam('q') ?? '';
  const shown = urlParam('show');
  const groups = useMemo(() => new Set(GROUPS.filter((group) => shown?.split(',').includes(group) ?? true)), [shown]);
  const all = paused ?? loggedEvents.value;
  const withCarried = urlParam('tags') !== undefined;
  const carried = useMemo(() => {
    const ids = withCarried ? [] : [...trackables.values()].flatMap(({ location_providers: its }) => its ?? []);
    return new Set<string>(ids);
  }, [trackables, withCarried]);
  const found = useMemo(
    () => filtered(all, { text, groups, most, carried }),
    [all, text, groups, most, carried, ...names],
  );
  const missed = paused === undefined ? 0 : newerThan(paused.at(-1)?.key ?? 0);
  const toggle = (group: Group): void => {
    const next = GROUPS.filter((each) => groups.has(each) !== (each === group));
    setUrlParams({ show: next.length === GROUPS.length ? undefined : next.join(',') || 'none' });
  };
  return (
    <>
      <div class={flow.row}>
        <SearchInput
          label={t('Search events')}
          hint={t('Search names and ids')}
          text={text}
          isInToolbar
          onInput={(q) => setUrlParams({ q })}
        />
        <fieldset class={`${flow.row} ${styles.groups}`} aria-label={t('Shown events')}>
          {GROUPS.map((group) => (
            <Button key={group} aria-pressed={groups.has(group)} onClick={() => toggle(group)}>
              {GROUP_NAMES[group]}
            </Button>
          ))}
          <Button
            aria-pressed={withCarried}
            title={t('Entries and exits of providers, even if their trackables have the same ones')}
            onClick={() => setUrlParams({ tags: withCarried ? undefined : 1 })}
          >
            {t('Providers')}
          </Button>
        </fieldset>
        <span class={flow.space} />
        <Button
          icon={paused === undefined ? 'pause' : 'play'}
          aria-pressed={paused !== undefined}
          onClick={() => setPaused(paused === undefined ? loggedEvents.peek() : undefined)}
        >
          {paused === undefined ? t('Pause') : missed > 0 ? t('Resume, {count} new', { count: missed }) : t('Resume')}
        </Button>
        <Button kind="quiet" disabled={all.length === 0} onClick={() => clear(() => setPaused(undefined))}>
          {t('Clear')}
        </Button>
      </div>
      {rejectedTopics.value.length > 0 && (
        <Notice tone="warn">
          {t('You may not follow {topics}.', { topics: rejectedTopics.value.join(', ').replaceAll('_', ' ') })}
        </Notice>
      )}
      <Card flush>
        {found.length === 0 ? <Nothing hasAny={all.length > 0} /> : <LogRows rows={found} />}
        {found.length >= most && <ShowMore label={t('Show older')} onClick={() => setMost(most + SHOWN_STEP)} />}
      </Card>
    </>
  );
}

function clear(then: () => void): void {
  clearEvents();
  then();
}

function newerThan(key: number): number {
  const now = loggedEvents.value;
  return now.length - (now.findLastIndex((each) => each.key <= key) + 1);
}

interface Filter {
  readonly text: string;
  readonly groups: ReadonlySet<Group>;
  readonly most: number;
  /** Providers whose entries and exits are omitted, because their trackables have the same. */
  readonly carried: ReadonlySet<string>;
}

/** Returns the newest matching events, newest first. */
function filtered(all: readonly LoggedEvent[], { text, groups, most, carried }: Filter): readonly LoggedEvent[] {
  const words = wordsOf(text);
  const found: LoggedEvent[] = [];
  for (let i = all.length - 1; i >= 0 && found.length < most; i--) {
    const logged = all[i];
    if (logged === undefined || !groups.has(EVENT_LOOKS[logged.is].group)) continue;
    if (isCarried(logged, carried)) continue;
    if (words.length === 0 || matchesWords(searchedIn(logged), words)) found.push(logged);
  }
  return found;
}

function isCarried(logged: LoggedEvent, carried: ReadonlySet<string>): boolean {
  if (logged.is !== 'entry' && logged.is !== 'exit') return false;
  const { trackable_id: trackable, provider_id: provider } = logged.event;
  return trackable == null && provider != null && carried.has(provider);
}

function Nothing({ hasAny }: { readonly hasAny: boolean }) {
  if (hasAny) {
    return (
      <Empty icon="filter" title={t('No event matches')}>
        <Button onClick={() => setUrlParams({ q: undefined, show: undefined, tags: 1 })}>{t('Show all events')}</Button>
      </Empty>
    );
  }
  const isConnected = connection.value.state === 'connected';
  return (
    <Empty icon="event" title={isConnected ? t('Nothing has happened yet') : t('Not connected')}>
      <p>
        {t(
          'Entries and exits, collisions and changes appear here as they happen, from the moment this page was opened.',
        )}
      </p>
      {isConnected && (
        <p>
          {tParts('An object that moves into a {fence} causes an entry.', {
            fence: <Link href="/fences">{t('fence')}</Link>,
          })}
        </p>
      )}
    </Empty>
  );
}
