import { Badge } from '../controls/badge.tsx';
import { Facts } from '../controls/facts.tsx';
import flow from '../controls/flow.module.css';
import typography from '../controls/typography.module.css';
import { storeOf } from '../hub/stores.ts';
import { Chip } from './chip.tsx';
import type { Selection } from './map_url.ts';
import { Gone, Properties } from './properties.tsx';
import { sourceName, useContents } from './selection_facts.ts';

/** What is known of something that stays where it is. */
export function AreaFacts({ selection: { kind, id } }: { readonly selection: Selection }) {
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
        <Chip key={`${kind} ${id}`} selection={{ kind, id }}>
          <Badge tone={kind === 'trackables' ? 'accent' : 'neutral'}>{label}</Badge>
        </Chip>
      ))}
      {inside.length > 12 && <span class={typography.faint}>and {inside.length - 12} more</span>}
    </span>
  );
}
