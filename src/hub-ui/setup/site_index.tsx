import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Button, ButtonLink } from '../controls/button.tsx';
import fieldStyles from '../controls/field.module.css';
import { Icon, type IconName } from '../controls/icons.tsx';
import { Link } from '../controls/link.tsx';
import { Empty, Notice, Spinner } from '../controls/notice.tsx';
import pageStyles from '../controls/page.module.css';
import { useTitle } from '../controls/page.tsx';
import typography from '../controls/typography.module.css';
import { can } from '../hub/access.ts';
import { type Entities, type Kind, labelOf, SINGULAR } from '../hub/kinds.ts';
import { storeOf, useEntities } from '../hub/stores.ts';
import { isMatch, wordsOf } from '../map/search.ts';
import { setUrlParams, urlParam } from '../shell/url_state.ts';
import layoutStyles from './setup_layout.module.css';
import { SetupLayout } from './setup_layout.tsx';
import styles from './site_index.module.css';
import { editorPath } from './use_editor.ts';

const SHOWN_STEP = 100;

/** What one does first, where there is none. */
const FIRST: Readonly<Record<Kind, string>> = {
  zones:
    'Begin with the area of one locating system: lay its floor plan on the map, draw it, or place points that you know in both planes.',
  fences: 'Draw a region, and the hub tells when something enters or leaves it.',
  trackables: 'Make one for each thing that you want to find, and give it the tags that it carries.',
  providers: 'They come by themselves with their first position. One can also be made beforehand.',
  anchors: 'Anchors that are known in both planes help to place their zone.',
};

interface SiteIndexProps<K extends Kind> {
  readonly kind: K;
  readonly title: string;
  readonly icon: IconName;
  /** What one of them is for, in a sentence. */
  readonly lead: string;
  /** What stands below the name. */
  readonly about: (entity: Entities[K]) => ComponentChildren;
  readonly onHover?: (id: string | undefined) => void;
  /** Beside the list; nothing for what has no place of its own. */
  readonly map?: ComponentChildren;
}

/** All entities of a kind, with a search, and the way to make a new one. */
export function SiteIndex<K extends Kind>(props: SiteIndexProps<K>) {
  const { kind, title, map } = props;
  useTitle(title);
  return (
    <SetupLayout label={`All ${kind}`} map={map}>
      <IndexList {...props} />
    </SetupLayout>
  );
}

function IndexList<K extends Kind>({ kind, title, icon, lead, about, onHover }: SiteIndexProps<K>) {
  const items = useEntities(kind);
  const { state, problem } = storeOf(kind);
  const text = urlParam('q') ?? '';
  const [most, setMost] = useState(SHOWN_STEP);
  const found = useMemo(() => {
    const words = wordsOf(text);
    const matching = [...items.values()].filter((entity) => isMatch(entity, words));
    return matching.sort((a, b) => labelOf(a).localeCompare(labelOf(b), undefined, { numeric: true }));
  }, [items, text]);
  return (
    <>
      <header class={layoutStyles.head}>
        <div class={layoutStyles.title}>
          <h1>{title}</h1>
          {can('CREATE', `/${kind}`) && (
            <ButtonLink href={`/${kind}/new`} kind="main" icon="plus">
              {`New ${SINGULAR[kind]}`}
            </ButtonLink>
          )}
        </div>
        <p class={pageStyles.lead}>{lead}</p>
        {items.size > 0 && (
          <input
            class={fieldStyles.input}
            type="search"
            aria-label={`Search ${kind}`}
            placeholder="Search name, id and properties"
            value={text}
            onInput={(event) => setUrlParams({ q: event.currentTarget.value })}
          />
        )}
      </header>
      <div class={layoutStyles.form}>
        {state.value === 'waiting' && <Spinner />}
        {problem.value !== undefined && <Notice tone="danger">{problem.value}</Notice>}
        {state.value === 'ready' && items.size === 0 && (
          <Empty icon={icon} title={`No ${kind} yet`}>
            <p>{can('CREATE', `/${kind}`) ? FIRST[kind] : 'Whoever may, will add them.'}</p>
          </Empty>
        )}
        {items.size > 0 && found.length === 0 && <p class={typography.faint}>Nothing has “{text}” in it</p>}
        <ul class={styles.list}>
          {found.slice(0, most).map((entity) => (
            <IndexRow key={entity.id} {...{ kind, icon, onHover }} entity={entity} about={about(entity)} />
          ))}
        </ul>
        {found.length > most && (
          <Button onClick={() => setMost(most + SHOWN_STEP)}>Show more, {found.length - most} are left</Button>
        )}
      </div>
    </>
  );
}

function IndexRow({
  kind,
  icon,
  entity,
  about,
  onHover,
}: {
  readonly kind: Kind;
  readonly icon: IconName;
  readonly entity: Entities[Kind];
  readonly about: ComponentChildren;
  readonly onHover: ((id: string | undefined) => void) | undefined;
}) {
  const hover = (id: string | undefined) => () => onHover?.(id);
  return (
    <li>
      <Link
        class={styles.item}
        href={editorPath(kind, entity.id)}
        onMouseEnter={hover(entity.id)}
        onMouseLeave={hover(undefined)}
        onFocus={hover(entity.id)}
        onBlur={hover(undefined)}
      >
        <Icon name={icon} />
        <span class={styles.text}>
          <span class={typography.cut}>{labelOf(entity)}</span>
          <span class={`${typography.faint} ${typography.cut}`}>{about}</span>
        </span>
        <Icon name="right" />
      </Link>
    </li>
  );
}
