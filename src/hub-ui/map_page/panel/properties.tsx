import type { ComponentChildren } from 'preact';
import { Facts } from '../../controls/facts.tsx';
import typography from '../../controls/typography.module.css';
import { t } from '../../languages/language.ts';

/** Custom properties of an entity, without the image of its floor plan. */
export function Properties({
  properties,
  title = t('Properties'),
}: {
  readonly title?: string;
  readonly properties: Readonly<Record<string, unknown>> | null | undefined;
}) {
  const rows = Object.entries(properties ?? {}).filter(([name]) => name !== 'floor_plan');
  if (rows.length === 0) return null;
  return (
    <details open={rows.length <= 6}>
      <summary class={typography.caption}>{title}</summary>
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

export function Deleted() {
  return <p class={typography.soft}>{t('It no longer exists.')}</p>;
}
