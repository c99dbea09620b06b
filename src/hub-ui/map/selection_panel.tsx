import type { ComponentChildren } from 'preact';
import type { Zone } from '../../model/zone.ts';
import { Badge } from '../controls/badge.tsx';
import { Button, ButtonLink, IconButton } from '../controls/button.tsx';
import { Facts } from '../controls/facts.tsx';
import flow from '../controls/flow.module.css';
import { Icon } from '../controls/icons.tsx';
import { ago, useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { can } from '../hub/access.ts';
import { labelOf, SINGULAR } from '../hub/kinds.ts';
import { entityPath } from '../hub/rest.ts';
import { storeOf } from '../hub/stores.ts';
import { type Selection, select } from './map_url.ts';
import { useContents, useFencesOf, usePlace } from './selection_facts.ts';
import styles from './selection_panel.module.css';

interface PanelProps {
  readonly selection: Selection;
  readonly isFollowed: boolean;
  readonly onFollow: (isFollowed: boolean) => void;
  readonly onGoTo: () => void;
  readonly onLocalView: (zone: Zone) => void;
}

/** What is known of whatever was clicked, as it changes. */
export function SelectionPanel(props: PanelProps) {
  const { kind, id } = props.selection;
  const entity = storeOf(kind).items.value.get(id);
  const mayChange = can('UPDATE', entityPath(kind, id));
  const isMoving = kind === 'trackables' || kind === 'providers';
  return (
    <aside class={styles.panel} data-panel aria-label={`Selected ${SINGULAR[kind]}`}>
      <header class={styles.head}>
        <Icon name={SINGULAR[kind] as 'zone' | 'fence' | 'anchor' | 'trackable' | 'provider'} />
        <div>
          <h2 class={`${typography.cut} ${styles.name}`}>{entity === undefined ? id : labelOf(entity)}</h2>
          <span class={typography.faint}>{kindText(kind, entity)}</span>
        </div>
        <IconButton icon="close" label="Close" onClick={() => select(undefined)} />
      </header>
      <div class={styles.body}>
        {isMoving ? <MovingFacts {...props} /> : <AreaFacts {...props} />}
        <div class={flow.row}>
          {isMoving && (
            <Button icon="target" aria-pressed={props.isFollowed} onClick={() => props.onFollow(!props.isFollowed)}>
              Follow
            </Button>
          )}
          <Button icon="frame" onClick={props.onGoTo}>
            Go to
          </Button>
          {kind === 'zones' && (entity as Zone | undefined)?.ground_control_points != null && (
            <Button icon="ruler" onClick={() => props.onLocalView(entity as Zone)}>
              Local view
            </Button>
          )}
          <ButtonLink href={`/${kind}/${encodeURIComponent(id)}`} icon={mayChange ? 'edit' : 'info'}>
            {mayChange ? 'Edit' : 'Details'}
          </ButtonLink>
        </div>
      </div>
    </aside>
  );
}

function kindText(kind: Selection['kind'], entity: object | undefined): string {
  const type = entity !== undefined && 'type' in entity ? ` · ${String(entity.type)}` : '';
  return `${SINGULAR[kind]}${type}`;
}

function MovingFacts({ selection }: PanelProps) {
  const location = usePlace(selection);
  const fences = useFencesOf(selection);
  const nowMs = useNow(1_000);
  if (location === null) return <p class={typography.soft}>The hub has not heard of a position yet.</p>;
  if (location === undefined) return <p class={typography.soft}>…</p>;
  const { position, accuracy, speed, course, floor, source, provider_id: provider, properties } = location;
  const at = Date.parse(location.timestamp_generated ?? '');
  const [x = 0, y = 0, z] = position.coordinates;
  return (
    <>
      <Facts
        rows={[
          ['Heard', <span key="heard">{ago(nowMs - at)}</span>],
          ['Position', <span key="position" class={typography.mono}>{`${y.toFixed(7)}, ${x.toFixed(7)}`}</span>],
          ['Height', z === undefined ? undefined : `${z} m`],
          ['Floor', floor ?? undefined],
          ['Accuracy', accuracy == null ? undefined : `${Number(accuracy.toFixed(2))} m`],
          ['Speed', speed == null ? undefined : `${speed.toFixed(1)} m/s`],
          ['Course', course == null ? undefined : `${Math.round(course)}°`],
          ['Provider', selection.kind === 'providers' ? undefined : (provider ?? undefined)],
          ['Source', sourceName(source)],
          ['In fences', <FenceBadges key="fences" fences={fences} />],
        ]}
      />
      <Properties properties={properties} />
    </>
  );
}

function FenceBadges({ fences }: { readonly fences: readonly { readonly id: string; readonly label: string }[] }) {
  if (fences.length === 0) return <span class={typography.faint}>none</span>;
  return (
    <span class={flow.row}>
      {fences.map(({ id, label }) => (
        <button key={id} type="button" class={styles.chip} onClick={() => select({ kind: 'fences', id })}>
          <Badge tone="info">{label}</Badge>
        </button>
      ))}
    </span>
  );
}

function AreaFacts({ selection: { kind, id } }: PanelProps) {
  if (kind === 'zones') return <ZoneFacts id={id} />;
  if (kind === 'anchors') return <AnchorFacts id={id} />;
  return <FenceFacts id={id} />;
}

function ZoneFacts({ id }: { readonly id: string }) {
  const zone = storeOf('zones').items.value.get(id);
  if (zone === undefined) return <Gone />;
  const points = zone.ground_control_points?.length ?? 0;
  return (
    <>
      <Facts
        rows={[
          [
            'Id',
            <span key="id" class={typography.mono}>
              {id}
            </span>,
          ],
          ['Foreign id', zone.foreign_id ?? undefined],
          ['Floor', zone.floor ?? undefined],
          ['Placed by', points > 0 ? `${points / 2} control points` : 'its position'],
          ['Radius', zone.radius == null ? undefined : `${zone.radius} m`],
          ['Site', [zone.site, zone.building].filter(Boolean).join(', ')],
        ]}
      />
      <Properties properties={zone.properties} />
    </>
  );
}

function AnchorFacts({ id }: { readonly id: string }) {
  const anchor = storeOf('anchors').items.value.get(id);
  if (anchor === undefined) return <Gone />;
  const { zone_id: zoneId, local_position: local, georeferenced_position: earth } = anchor;
  return (
    <>
      <Facts
        rows={[
          [
            'Id',
            <span key="id" class={typography.mono}>
              {id}
            </span>,
          ],
          ['Zone', sourceName(zoneId)],
          ['In its meters', local?.coordinates.join(', ')],
          ['On the earth', earth?.coordinates.join(', ')],
        ]}
      />
      <Properties properties={anchor.properties} />
    </>
  );
}

function FenceFacts({ id }: { readonly id: string }) {
  const fence = storeOf('fences').items.value.get(id);
  const inside = useContents(id);
  if (fence === undefined) return <Gone />;
  return (
    <>
      <Facts
        rows={[
          [
            'Id',
            <span key="id" class={typography.mono}>
              {id}
            </span>,
          ],
          ['Floor', fence.floor ?? 'all'],
          ['Radius', fence.region.type === 'Point' ? `${fence.radius} m` : undefined],
          ['Inside', <Contents key="inside" inside={inside} />],
        ]}
      />
      <Properties properties={fence.properties} />
    </>
  );
}

function Contents({ inside }: { readonly inside: readonly (Selection & { readonly label: string })[] }) {
  if (inside.length === 0) return <span class={typography.faint}>nothing</span>;
  return (
    <span class={flow.row}>
      {inside.slice(0, 12).map(({ kind, id, label }) => (
        <button key={`${kind} ${id}`} type="button" class={styles.chip} onClick={() => select({ kind, id })}>
          <Badge tone={kind === 'trackables' ? 'accent' : 'neutral'}>{label}</Badge>
        </button>
      ))}
      {inside.length > 12 && <span class={typography.faint}>and {inside.length - 12} more</span>}
    </span>
  );
}

function Properties({ properties }: { readonly properties: Readonly<Record<string, unknown>> | null | undefined }) {
  const rows = Object.entries(properties ?? {}).filter(([name]) => name !== 'floor_plan');
  if (rows.length === 0) return null;
  return (
    <details open={rows.length <= 6}>
      <summary class={typography.caption}>Properties</summary>
      <Facts rows={rows.map(([name, value]) => [name, shown(value)] as const)} />
    </details>
  );
}

function shown(value: unknown): ComponentChildren {
  if (typeof value === 'string' && /^https?:\/\//.test(value)) {
    return (
      <a href={value} target="_blank" rel="noreferrer">
        {value}
      </a>
    );
  }
  return typeof value === 'object' ? <code>{JSON.stringify(value)}</code> : String(value);
}

function Gone() {
  return <p class={typography.soft}>It is not there any more.</p>;
}

function sourceName(source: string | null | undefined): string | undefined {
  if (source == null) return undefined;
  const zones = storeOf('zones').items.value;
  const zone = zones.get(source) ?? [...zones.values()].find(({ foreign_id: foreignId }) => foreignId === source);
  return zone === undefined ? source : labelOf(zone);
}
