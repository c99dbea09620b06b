import { useState } from 'preact/hooks';
import type { LocationProvider } from '../../../model/provider.ts';
import type { Zone } from '../../../model/zone.ts';
import { Button, ButtonLink, IconButton } from '../../controls/button.tsx';
import flow from '../../controls/flow.module.css';
import { Icon } from '../../controls/icons.tsx';
import { lazyPart } from '../../controls/lazy.tsx';
import typography from '../../controls/typography.module.css';
import { can, mayAssign } from '../../hub/access.ts';
import { trackablesByProvider } from '../../hub/carriers.ts';
import { kindText, labelOf, SINGULAR } from '../../hub/entity_kinds.ts';
import { mirrorOf } from '../../hub/mirrors.ts';
import { editorPath } from '../../hub/page_paths.ts';
import { entityPath } from '../../hub/rest.ts';
import { hasHistory } from '../../hub/settings.ts';
import { storeOf } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import { type MapSelection, select } from '../../map/view/map_url.ts';
import { SelectionFacts } from './selection_facts.tsx';
import styles from './selection_panel.module.css';

const AssignDialog = lazyPart(async () => (await import('../../lists/assign_dialog.tsx')).AssignDialog);
const PanelHistory = lazyPart(async () => (await import('../../history/panel_history.tsx')).PanelHistory);

interface PanelProps {
  readonly selection: MapSelection;
  readonly isFollowed: boolean;
  readonly onFollow: (isFollowed: boolean) => void;
  readonly onGoTo: () => void;
  readonly onLocalView: (zone: Zone) => void;
}

/** Live facts of the selected entity. */
export function SelectionPanel(props: PanelProps) {
  const { kind, id } = props.selection;
  const entity = storeOf(kind).items.value.get(id);
  const isMirrored = mirrorOf(entity) !== undefined;
  const mayChange = !isMirrored && can('UPDATE', entityPath(kind, id));
  const isMoving = kind === 'trackables' || kind === 'providers';
  const actions = (
    <div class={flow.row}>
      {isMoving && (
        <Button
          icon="target"
          aria-pressed={props.isFollowed}
          aria-keyshortcuts="f"
          title={t('Keep it in the middle of the map: F')}
          onClick={() => props.onFollow(!props.isFollowed)}
        >
          {t('Follow')}
        </Button>
      )}
      <Button icon="frame" onClick={props.onGoTo}>
        {t('Go to')}
      </Button>
      {kind === 'zones' && (entity as Zone | undefined)?.ground_control_points != null && (
        <Button icon="ruler" onClick={() => props.onLocalView(entity as Zone)}>
          {t('Local view')}
        </Button>
      )}
      {kind === 'providers' && entity !== undefined && <AssignHere provider={entity as LocationProvider} />}
      <ButtonLink href={editorPath(kind, id)} icon={mayChange ? 'edit' : 'info'}>
        {mayChange ? t('Edit') : t('Details')}
      </ButtonLink>
    </div>
  );
  return (
    <aside class={styles.panel} data-panel aria-label={t('Selected {kind}', { kind: kindText(kind) })}>
      <header class={styles.head}>
        <Icon name={SINGULAR[kind] as 'zone' | 'fence' | 'anchor' | 'trackable' | 'provider'} />
        <div>
          <h2 class={`${typography.cut} ${styles.name}`}>{entity === undefined ? id : labelOf(entity)}</h2>
          <span class={typography.faint}>
            {[kindAndType(kind, entity), ...(isMirrored ? [t('mirrored')] : [])].join(' · ')}
          </span>
        </div>
        <IconButton icon="close" label={t('Close')} onClick={() => select(undefined)} />
      </header>
      <div class={styles.body}>
        <SelectionFacts selection={props.selection} actions={actions} />
        {hasHistory() && <PanelHistory selection={props.selection} />}
      </div>
    </aside>
  );
}

/** Button that assigns an unassigned provider to a trackable. */
function AssignHere({ provider }: { readonly provider: LocationProvider }) {
  const [isAsked, setAsked] = useState(false);
  if (!mayAssign() || (trackablesByProvider.value.has(provider.id) && !isAsked)) return null;
  return (
    <>
      <Button icon="plus" onClick={() => setAsked(true)}>
        {t('Assign')}
      </Button>
      {isAsked && <AssignDialog provider={provider} onClose={() => setAsked(false)} />}
    </>
  );
}

function kindAndType(kind: MapSelection['kind'], entity: object | undefined): string {
  const type = entity !== undefined && 'type' in entity ? ` · ${String(entity.type)}` : '';
  return `${kindText(kind)}${type}`;
}
