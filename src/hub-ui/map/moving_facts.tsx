import { Badge } from '../controls/badge.tsx';
import { Facts } from '../controls/facts.tsx';
import flow from '../controls/flow.module.css';
import { ago, useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { Chip } from './chip.tsx';
import type { Selection } from './map_url.ts';
import { Properties } from './properties.tsx';
import { sourceName, useFencesOf, usePlace } from './selection_facts.ts';

/** Where something that moves is, how, and in which fences. */
export function MovingFacts({ selection }: { readonly selection: Selection }) {
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
