import type MapBrowserEvent from 'ol/MapBrowserEvent.js';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Badge } from '../controls/badge.tsx';
import { Button, ButtonLink } from '../controls/button.tsx';
import { Icon, type IconName } from '../controls/icons.tsx';
import { Link } from '../controls/link.tsx';
import { Empty, Notice, Spinner } from '../controls/notice.tsx';
import pageStyles from '../controls/page.module.css';
import { useTitle } from '../controls/page.tsx';
import { SearchInput } from '../controls/search_input.tsx';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { can } from '../hub/access.ts';
import { type Entities, type Kind, kindsText, kindText, labelOf } from '../hub/entity_kinds.ts';
import { isMatch, wordsOf } from '../hub/entity_search.ts';
import { editorPath } from '../hub/page_paths.ts';
import { savedDraftIds } from '../hub/saved_drafts.ts';
import { storeOf, useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { EARTH } from '../map/plane/plane.ts';
import { drawnBy } from '../map/site/features.ts';
import { useMap } from '../map/view/map_view.tsx';
import layoutStyles from './editor/setup_layout.module.css';
import { SetupLayout } from './editor/setup_layout.tsx';
import { ContextMap } from './map/context_map.tsx';
import styles from './site_index.module.css';

const SHOWN_STEP = 100;

export interface SiteIndexProps<K extends Kind> {
  readonly kind: K;
  readonly title: string;
  readonly icon: IconName;
  /** Purpose of the kind, in a sentence. */
  readonly lead: string;
  /** First step, shown while the list is empty. */
  readonly first: string;
  /** Line below the name. */
  readonly about: (entity: Entities[K]) => ComponentChildren;
  /** Whether the kind has positions, which a map next to the list shows. */
  readonly isOnMap: boolean;
}

type OnHover = ((id: string | undefined) => void) | undefined;

/** Index of a kind, with search and a button for a new entity. */
export function SiteIndex<K extends Kind>(props: SiteIndexProps<K>) {
  const { kind, title, isOnMap } = props;
  const [hovered, setHovered] = useState<string>();
  const selected = useMemo(() => ({ [kind]: hovered }), [kind, hovered]);
  useTitle(title);
  const map = isOnMap && (
    <ContextMap isOverview plane={EARTH} label={t('Map of all {kind}', { kind: kindsText(kind) })} selected={selected}>
      <OpenOnClick kind={kind} />
    </ContextMap>
  );
  return (
    <SetupLayout label={t('All {kind}', { kind: kindsText(kind) })} map={map || undefined}>
      <IndexList {...props} onHover={isOnMap ? setHovered : undefined} />
    </SetupLayout>
  );
}

/** Opens the editor of an entity on a click on the map. */
function OpenOnClick({ kind }: { readonly kind: Kind }) {
  const { map } = useMap();
  const [, go] = useLocation();
  // Before paint, so that clicks work as soon as the map is visible.
  useLayoutEffect(() => {
    const click = ({ pixel }: MapBrowserEvent): void => {
      const hit = map.forEachFeatureAtPixel(
        pixel,
        (feature) => {
          const drawn = drawnBy(feature);
          return drawn?.kind === kind ? drawn : undefined;
        },
        { hitTolerance: 4 },
      );
      if (hit !== undefined) go(editorPath(kind, hit.id));
    };
    map.on('singleclick', click);
    return () => map.un('singleclick', click);
  }, [map, kind, go]);
  return null;
}

function IndexList<K extends Kind>({
  kind,
  title,
  icon,
  lead,
  first,
  about,
  onHover,
}: SiteIndexProps<K> & { readonly onHover: OnHover }) {
  const items = useEntities(kind);
  const { state, problem } = storeOf(kind);
  const text = urlParam('q') ?? '';
  const [most, setMost] = useState(SHOWN_STEP);
  const unsaved = useMemo(() => savedDraftIds(kind), [kind]);
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
              {unsaved.has('')
                ? t('Continue with the new {kind}', { kind: kindText(kind) })
                : t('New {kind}', { kind: kindText(kind) })}
            </ButtonLink>
          )}
        </div>
        <p class={pageStyles.lead}>{lead}</p>
        {items.size > 0 && (
          <SearchInput
            label={t('Search {kind}', { kind: kindsText(kind) })}
            hint={t('Search name, id and properties')}
            text={text}
            onInput={(q) => setUrlParams({ q })}
          />
        )}
      </header>
      <div class={layoutStyles.form}>
        {state.value === 'waiting' && <Spinner />}
        {problem.value !== undefined && <Notice tone="danger">{problem.value}</Notice>}
        {state.value === 'ready' && items.size === 0 && (
          <Empty icon={icon} title={t('No {kind} yet', { kind: kindsText(kind) })}>
            <p>{can('CREATE', `/${kind}`) ? first : t('You are not allowed to create them.')}</p>
          </Empty>
        )}
        {items.size > 0 && found.length === 0 && <p class={typography.faint}>{t('No match for “{text}”', { text })}</p>}
        <ul class={styles.list}>
          {found.slice(0, most).map((entity) => (
            <IndexRow
              key={entity.id}
              {...{ kind, icon, onHover }}
              entity={entity}
              about={about(entity)}
              isUnsaved={unsaved.has(entity.id)}
            />
          ))}
        </ul>
        {found.length > most && (
          <Button onClick={() => setMost(most + SHOWN_STEP)}>
            {t('Show more ({count} left)', { count: countText(found.length - most) })}
          </Button>
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
  isUnsaved,
  onHover,
}: {
  readonly kind: Kind;
  readonly icon: IconName;
  readonly entity: Entities[Kind];
  readonly about: ComponentChildren;
  /** Whether the entity has an unsaved draft. */
  readonly isUnsaved: boolean;
  readonly onHover: OnHover;
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
        {isUnsaved && <Badge tone="warn">{t('Not saved')}</Badge>}
        <Icon name="right" />
      </Link>
    </li>
  );
}
