import { useMemo, useState } from 'preact/hooks';
import { useLocation, useRoute } from 'wouter-preact';
import { CopyDialog } from '../bulk/copy_dialog.tsx';
import { Button, ButtonLink } from '../controls/button.tsx';
import cardStyles from '../controls/card.module.css';
import { Card } from '../controls/card.tsx';
import type { IconName } from '../controls/icons.tsx';
import { Empty, Notice, Spinner } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { SearchInput } from '../controls/search_input.tsx';
import { Tabs } from '../controls/tabs.tsx';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { can } from '../hub/access.ts';
import { type Entities, type Kind, kindsText, kindText, SINGULAR } from '../hub/entity_kinds.ts';
import { isMatch, wordsOf } from '../hub/entity_search.ts';
import { whyNoImport } from '../hub/rights.ts';
import { storeOf, useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { DeleteDialog } from './delete_dialog.tsx';
import { EntityList } from './entity_list.tsx';
import { ExportDialog } from './export_dialog.tsx';
import { activityProblem, isTagKind, isActivityLoaded } from './fleet_summary.ts';
import { ImportDialog } from './import_dialog.tsx';
import { ImportStatus } from './import_status.tsx';
import kindStyles from './kind.module.css';
import styles from './lists_page.module.css';
import { NO_FILTER, TagFilterBar, useFiltered } from './tag_filter.tsx';

/** Tabs, the most used first. */
const SHOWN: readonly Kind[] = ['trackables', 'providers', 'fences', 'zones', 'anchors'];

type Found = { readonly [K in Kind]: readonly Entities[K][] };

/** Page with all entities of the hub: one list per kind, with search, order and pages. */
export function ListsPage() {
  const [, params] = useRoute('/lists/:kind');
  const [, navigate] = useLocation();
  const kind = SHOWN.find((each) => each === params?.kind) ?? 'trackables';
  const [dialog, setDialog] = useState<'import' | 'export' | 'floor'>();
  // Outside of the list, which unmounts with the last deleted entity.
  const [deletion, setDeletion] = useState<{ readonly kind: Kind; readonly ids: readonly string[] }>();
  const found = useFound(urlParam('q') ?? '');
  const close = (): void => setDialog(undefined);
  const go = (next: Kind): void => {
    const q = urlParam('q');
    navigate(`/lists/${next}${q === undefined ? '' : `?${new URLSearchParams({ q })}`}`);
  };
  return (
    <Page
      title={t('Lists')}
      lead={t('Everything that is configured in the hub.')}
      actions={
        <>
          {whyNoImport() === undefined && (
            <Button icon="upload" onClick={() => setDialog('import')}>
              {t('Import')}
            </Button>
          )}
          {kind === 'fences' && can('CREATE', '/fences') && (
            <Button icon="copy" onClick={() => setDialog('floor')}>
              {t('Copy a floor')}
            </Button>
          )}
          <Button icon="download" onClick={() => setDialog('export')}>
            {t('Export')}
          </Button>
        </>
      }
    >
      <ImportStatus />
      <div class={styles.search}>
        <SearchInput
          label={t('Search all lists')}
          hint={t('Search names, ids and properties')}
          text={urlParam('q') ?? ''}
          onInput={(q) => setUrlParams({ q, page: undefined })}
        />
      </div>
      <Card flush>
        <Tabs
          label={t('Kinds')}
          value={kind}
          onChange={go}
          options={SHOWN.map((each) => ({ value: each, label: <TabLabel kind={each} count={found[each].length} /> }))}
        />
        {isTagKind(kind) && <TagFilterBar kind={kind} />}
        <Body key={kind} kind={kind} matching={found[kind]} onDelete={(ids) => setDeletion({ kind, ids })} />
      </Card>
      {dialog === 'floor' && <CopyDialog ids={undefined} onClose={close} />}
      {dialog === 'import' && <ImportDialog onClose={close} />}
      {deletion && <DeleteDialog {...deletion} onClose={() => setDeletion(undefined)} />}
      {dialog === 'export' && <ExportDialog onClose={close} />}
    </Page>
  );
}

function Body<K extends Kind>({
  kind,
  matching,
  onDelete,
}: {
  readonly kind: K;
  readonly matching: readonly Entities[K][];
  readonly onDelete: (ids: readonly string[]) => void;
}) {
  const { state, problem, items } = storeOf(kind);
  const found = useFiltered(kind, matching);
  const isWaitingForTags =
    (urlParam('silent') ?? urlParam('battery')) !== undefined && isTagKind(kind) && !isActivityLoaded.value;
  if (state.value === 'waiting' || (isWaitingForTags && activityProblem.value === undefined)) {
    return (
      <div class={cardStyles.padded}>
        <Spinner />
      </div>
    );
  }
  if (problem.value !== undefined && items.value.size === 0) {
    return (
      <div class={cardStyles.padded}>
        <Notice tone="danger">{problem.value}</Notice>
      </div>
    );
  }
  if (items.value.size === 0) return <Nothing kind={kind} />;
  if (matching.length > 0 && found.length === 0) {
    return (
      <Empty icon="check" title={t('Nothing found')}>
        <p>{t('No {kind} match the filter.', { kind: kindsText(kind) })}</p>
        <Button onClick={() => setUrlParams(NO_FILTER)}>{t('Clear the filter')}</Button>
      </Empty>
    );
  }
  if (found.length === 0) {
    return (
      <Empty icon="search" title={t('No {kind} match the search', { kind: kindsText(kind) })}>
        <p>
          {t('The search finds words in names, ids, external IDs and properties that start with your search terms.')}
        </p>
        <Button onClick={() => setUrlParams({ q: undefined })}>{t('Clear the search')}</Button>
      </Empty>
    );
  }
  return <EntityList kind={kind} found={found} onDelete={onDelete} />;
}

const ABOUT: Readonly<Record<Kind, string>> = {
  zones: t('A zone is the area of a locating system, and georeferences its coordinates.'),
  fences: t('A fence is an area: the hub reports objects that enter or leave it.'),
  trackables: t('A trackable is an object that its providers locate.'),
  providers: t('A provider is a source of positions, such as a tag. The hub creates it with its first position.'),
  anchors: t('An anchor is a fixed device of a locating system.'),
};

function Nothing({ kind }: { readonly kind: Kind }) {
  return (
    <Empty icon={SINGULAR[kind] as IconName} title={t('No {kind} yet', { kind: kindsText(kind) })}>
      <p>{ABOUT[kind]}</p>
      {can('CREATE', `/${kind}`) && (
        <ButtonLink href={`/${kind}/new`} kind="main" icon="plus">
          {t('New {kind}', { kind: kindText(kind) })}
        </ButtonLink>
      )}
    </Empty>
  );
}

function TabLabel({ kind, count }: { readonly kind: Kind; readonly count: number }) {
  return (
    <>
      <span class={kindStyles.kind}>{kindsText(kind)}</span> <span class={styles.count}>{countText(count)}</span>
    </>
  );
}

/** Matches of the search in all kinds; the tabs show the counts. */
function useFound(text: string): Found {
  const words = useMemo(() => wordsOf(text), [text]);
  return {
    zones: useMatching('zones', words),
    fences: useMatching('fences', words),
    trackables: useMatching('trackables', words),
    providers: useMatching('providers', words),
    anchors: useMatching('anchors', words),
  };
}

function useMatching<K extends Kind>(kind: K, words: readonly string[]): readonly Entities[K][] {
  const items = useEntities(kind);
  return useMemo(() => [...items.values()].filter((entity) => isMatch(entity, words)), [items, words]);
}
