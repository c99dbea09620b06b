import { useEffect, useState } from 'preact/hooks';
import type { TrackableMotion } from '../../model/events.ts';
import type { Fence } from '../../model/fence.ts';
import type { Location } from '../../model/location.ts';
import { Badge } from '../controls/badge.tsx';
import { type FactRow, Facts } from '../controls/facts.tsx';
import flow from '../controls/flow.module.css';
import { ago, useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { type Entities, labelOf } from '../hub/kinds.ts';
import { subscribe } from '../hub/live.ts';
import { entityPath, get } from '../hub/rest.ts';
import { storeOf } from '../hub/stores.ts';
import { Chip } from './chip.tsx';
import type { Selection } from './map_url.ts';
import { Gone, Properties } from './properties.tsx';

/** What is known of an entity: of one that moves, where it is, how, and in which fences. */
export function SelectionFacts({ selection }: { readonly selection: Selection }) {
  const { kind, id } = selection;
  if (kind === 'zones') return <ZoneFacts id={id} />;
  if (kind === 'anchors') return <AnchorFacts id={id} />;
  if (kind === 'fences') return <FenceFacts id={id} />;
  return <MovingFacts selection={selection} />;
}

function ZoneFacts({ id }: { readonly id: string }) {
  const zone = storeOf('zones').items.value.get(id);
  if (zone === undefined) return <Gone />;
  const points = zone.ground_control_points?.length ?? 0;
  return (
    <>
      <Facts
        rows={[
          idRow(id),
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
          idRow(id),
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
          idRow(id),
          ['Floor', fence.floor ?? 'all'],
          ['Radius', fence.region.type === 'Point' ? `${fence.radius} m` : undefined],
          ['Inside', <Contents key="inside" inside={inside} />],
        ]}
      />
      <Properties properties={fence.properties} />
    </>
  );
}

function idRow(id: string): FactRow {
  return [
    'Id',
    <span key="id" class={typography.mono}>
      {id}
    </span>,
  ];
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

function MovingFacts({ selection }: { readonly selection: Selection }) {
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
        <Chip key={id} selection={{ kind: 'fences', id }}>
          <Badge tone="info">{label}</Badge>
        </Chip>
      ))}
    </span>
  );
}

/** Where an object is: null when the hub does not know, undefined until it is asked. */
function usePlace({ kind, id }: Selection): Location | null | undefined {
  const [place, setPlace] = useState<Location | null>();
  useEffect(() => {
    setPlace(undefined);
    let heard = false;
    const isTrackable = kind === 'trackables';
    // Where it was last heard may be long ago when the connection comes back.
    const ask = (): void => {
      heard = false;
      get<Location>(`${entityPath(kind, id)}/location`).then(
        (location) => {
          if (!heard) setPlace(location);
        },
        () => {
          if (!heard) setPlace(null);
        },
      );
    };
    const topic = isTrackable ? 'trackable_motions' : 'location_updates';
    return subscribe(topic, isTrackable ? { id } : { provider_id: id }, {
      subscribed: ask,
      refused: ask,
      events(payload: readonly (TrackableMotion | Location)[]) {
        const last = payload.at(-1);
        if (last === undefined) return;
        heard = true;
        setPlace('location' in last ? last.location : last);
      },
    });
  }, [kind, id]);
  return place;
}

/** Fences that an object is in, by the hub's timers and tolerances. */
function useFencesOf({ kind, id }: Selection): readonly { readonly id: string; readonly label: string }[] {
  const [fences, setFences] = useState<readonly { id: string; label: string }[]>([]);
  useEffect(() => {
    const ask = (): void => {
      get<readonly Fence[]>(`${entityPath(kind, id)}/fences`).then(
        (found) => setFences(found.map((fence) => ({ id: fence.id, label: labelOf(fence) }))),
        () => setFences([]),
      );
    };
    const params = kind === 'trackables' ? { trackable_id: id } : { provider_id: id };
    return subscribe('fence_events', params, { subscribed: ask, events: ask });
  }, [kind, id]);
  return fences;
}

/** What is in a fence, by the hub's timers and tolerances. */
function useContents(fenceId: string): readonly (Selection & { readonly label: string })[] {
  const [inside, setInside] = useState<readonly (Selection & { readonly label: string })[]>([]);
  useEffect(() => {
    const of = async <K extends 'trackables' | 'providers'>(kind: K) => {
      const found = await get<readonly Entities[K][]>(`${entityPath('fences', fenceId)}/${kind}`);
      return found.map((entity) => ({ kind, id: entity.id, label: labelOf(entity) }));
    };
    const ask = (): void => {
      Promise.all([of('trackables'), of('providers')]).then(
        (found) => setInside(found.flat()),
        () => setInside([]),
      );
    };
    return subscribe('fence_events', { fence_id: fenceId }, { subscribed: ask, events: ask });
  }, [fenceId]);
  return inside;
}

/** The zone that a location or an area has come from, or what the source calls itself. */
function sourceName(source: string | null | undefined): string | undefined {
  if (source == null) return undefined;
  const zones = storeOf('zones').items.value;
  const zone = zones.get(source) ?? [...zones.values()].find(({ foreign_id: foreignId }) => foreignId === source);
  return zone === undefined ? source : labelOf(zone);
}
