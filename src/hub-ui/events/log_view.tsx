import { useMemo, useState } from 'preact/hooks';
import { Badge, type Tone } from '../controls/badge.tsx';
import { Button, IconButton, IconLink } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import fieldStyles from '../controls/field.module.css';
import flow from '../controls/flow.module.css';
import { Icon, type IconName } from '../controls/icons.tsx';
import { Link } from '../controls/link.tsx';
import { Empty, Notice } from '../controls/notice.tsx';
import { clearEvents, type Happening, happenings, refusals } from '../hub/event_log.ts';
import { connection } from '../hub/live.ts';
import { useEntities } from '../hub/stores.ts';
import jsonStyles from '../json/json.module.css';
import { Json, jsonText } from '../json/json.tsx';
import { hasWords, wordsOf } from '../map/search.ts';
import { setUrlParams, urlParam } from '../shell/url_state.ts';
import { hasPlace, placeOf, type Subject, searchedIn, wordsOfHappening } from './happening_text.ts';
import styles from './log_view.module.css';
import toolbarStyles from './toolbar.module.css';

const GROUPS = ['entries', 'exits', 'collisions', 'changes'] as const;
type Group = (typeof GROUPS)[number];

const LOOKS: Readonly<Record<Happening['is'], { label: string; tone: Tone; group: Group; icon: IconName }>> = {
  entry: { label: 'Entry', tone: 'ok', group: 'entries', icon: 'right' },
  exit: { label: 'Exit', tone: 'warn', group: 'exits', icon: 'left' },
  collision_start: { label: 'Collision', tone: 'danger', group: 'collisions', icon: 'warning' },
  collision_end: { label: 'Apart', tone: 'neutral', group: 'collisions', icon: 'check' },
  create: { label: 'New', tone: 'info', group: 'changes', icon: 'plus' },
  update: { label: 'Changed', tone: 'info', group: 'changes', icon: 'edit' },
  delete: { label: 'Deleted', tone: 'neutral', group: 'changes', icon: 'trash' },
};

const SHOWN_STEP = 100;

/** What happens, the newest first. */
export function LogView() {
  // Names are those of now: whatever is renamed is so in the log as well.
  const trackables = useEntities('trackables');
  const names = [trackables, useEntities('providers'), useEntities('fences'), useEntities('zones')];
  const [paused, setPaused] = useState<readonly Happening[]>();
  const [most, setMost] = useState(SHOWN_STEP);
  const text = urlParam('q') ?? '';
  const shown = urlParam('show');
  const groups = useMemo(() => new Set(GROUPS.filter((group) => shown?.split(',').includes(group) ?? true)), [shown]);
  const all = paused ?? happenings.value;
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
        <input
          class={`${fieldStyles.input} ${toolbarStyles.search}`}
          type="search"
          aria-label="Search events"
          placeholder="Search names and ids"
          value={text}
          onInput={(event) => setUrlParams({ q: event.currentTarget.value })}
        />
        <fieldset class={`${flow.row} ${styles.groups}`} aria-label="Shown events">
          {GROUPS.map((group) => (
            <Button key={group} aria-pressed={groups.has(group)} onClick={() => toggle(group)}>
              {`${group.charAt(0).toUpperCase()}${group.slice(1)}`}
            </Button>
          ))}
          <Button
            aria-pressed={withCarried}
            title="Entries and exits of providers, also where those of their trackables say the same"
            onClick={() => setUrlParams({ tags: withCarried ? undefined : 1 })}
          >
            Providers
          </Button>
        </fieldset>
        <span class={flow.space} />
        <Button
          icon={paused === undefined ? 'pause' : 'play'}
          aria-pressed={paused !== undefined}
          onClick={() => setPaused(paused === undefined ? happenings.peek() : undefined)}
        >
          {paused === undefined ? 'Pause' : missed > 0 ? `Go on, ${missed} new` : 'Go on'}
        </Button>
        <Button kind="quiet" disabled={all.length === 0} onClick={() => clear(() => setPaused(undefined))}>
          Clear
        </Button>
      </div>
      {refusals.value.length > 0 && (
        <Notice tone="warn">{`You may not follow ${refusals.value.join(', ').replaceAll('_', ' ')}.`}</Notice>
      )}
      <Card flush>
        {found.length === 0 ? <Nothing hasAny={all.length > 0} /> : <Rows rows={found} />}
        {found.length >= most && (
          <div class={toolbarStyles.more}>
            <Button kind="quiet" onClick={() => setMost(most + SHOWN_STEP)}>
              Show older
            </Button>
          </div>
        )}
      </Card>
    </>
  );
}

function clear(then: () => void): void {
  clearEvents();
  then();
}

function newerThan(key: number): number {
  const now = happenings.value;
  return now.length - (now.findLastIndex((each) => each.key <= key) + 1);
}

interface Filter {
  readonly text: string;
  readonly groups: ReadonlySet<Group>;
  readonly most: number;
  /** Providers whose entries and exits are left out, since their trackables have the same. */
  readonly carried: ReadonlySet<string>;
}

/** The newest that match, newest first. */
function filtered(all: readonly Happening[], { text, groups, most, carried }: Filter): readonly Happening[] {
  const words = wordsOf(text);
  const found: Happening[] = [];
  for (let i = all.length - 1; i >= 0 && found.length < most; i--) {
    const happening = all[i];
    if (happening === undefined || !groups.has(LOOKS[happening.is].group)) continue;
    if (isCarried(happening, carried)) continue;
    if (words.length === 0 || hasWords(searchedIn(happening), words)) found.push(happening);
  }
  return found;
}

function isCarried(happening: Happening, carried: ReadonlySet<string>): boolean {
  if (happening.is !== 'entry' && happening.is !== 'exit') return false;
  const { trackable_id: trackable, provider_id: provider } = happening.event;
  return trackable == null && provider != null && carried.has(provider);
}

function Nothing({ hasAny }: { readonly hasAny: boolean }) {
  if (hasAny) {
    return (
      <Empty icon="filter" title="No event matches">
        <Button onClick={() => setUrlParams({ q: undefined, show: undefined, tags: 1 })}>Show all events</Button>
      </Empty>
    );
  }
  const isConnected = connection.value.state === 'connected';
  return (
    <Empty icon="event" title={isConnected ? 'Nothing has happened yet' : 'Not connected'}>
      <p>
        Entries and exits, collisions and changes appear here as they happen, from the moment on at which this page was
        opened.
      </p>
      {isConnected && (
        <p>
          Whatever moves into a <Link href="/fences">fence</Link> makes an entry.
        </p>
      )}
    </Empty>
  );
}

function Rows({ rows }: { readonly rows: readonly Happening[] }) {
  const [openKey, setOpenKey] = useState<number>();
  return (
    <ol class={styles.log} aria-label="Events">
      {rows.map((happening) => (
        <Row
          key={happening.key}
          happening={happening}
          isOpen={happening.key === openKey}
          onToggle={() => setOpenKey(happening.key === openKey ? undefined : happening.key)}
        />
      ))}
    </ol>
  );
}

function Row({
  happening,
  isOpen,
  onToggle,
}: {
  readonly happening: Happening;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}) {
  const { label, tone, icon } = LOOKS[happening.is];
  const at = new Date(happening.atMs);
  return (
    <li>
      <div class={styles.row}>
        <time class={styles.time} dateTime={at.toISOString()} title={at.toLocaleString()}>
          {at.toTimeString().slice(0, 8)}
        </time>
        <span class={styles.kind}>
          <Badge tone={tone}>
            <Icon name={icon} width={12} height={12} />
            {label}
          </Badge>
        </span>
        <span class={styles.text}>
          {wordsOfHappening(happening).map((part) => {
            return typeof part === 'string' ? part : <SubjectLink key={part.kind + part.id} subject={part} />;
          })}
        </span>
        {hasPlace(happening) ? <IconLink href={placeOf(happening)} icon="map" label="Show on the map" /> : <span />}
        <IconButton icon="code" label="JSON of the event" aria-expanded={isOpen} onClick={onToggle} />
      </div>
      {isOpen && (
        <pre class={`${jsonStyles.box} ${styles.json}`}>
          <Json text={jsonText(happening.event)} />
        </pre>
      )}
    </li>
  );
}

function SubjectLink({ subject: { kind, id, label } }: { readonly subject: Subject }) {
  const href =
    kind === 'anchors' ? `/lists/anchors?json=${encodeURIComponent(id)}` : `/${kind}/${encodeURIComponent(id)}`;
  return (
    <Link href={kind === 'trackables' || kind === 'providers' ? `/?sel=${kind}:${encodeURIComponent(id)}` : href}>
      {label}
    </Link>
  );
}
