import { KINDS, type Kind, nameOf, PROJECTED, type Projected } from '../cluster/clusters.ts';
import type { Result } from './result.ts';
import { shortened } from './table.ts';

const HEADS: Readonly<Record<Kind, string>> = {
  lean: 'Routing costs only as much as its messages:',
  measured:
    'Routing costs as much as was measured on two cores that all processes shared, including garbage collection and wake-ups:',
};
const COLUMNS = [
  ...['hubs', 'NATS', 'locations/s a hub', 'in all', 'of a hub alone', 'front thread', 'NATS cores'],
  ...['messages/s', 'locations per append', '204 p50 ms', 'p99 ms'],
];

/** Whether it was computed instead of measured. */
export function isProjection({ profile }: Result): boolean {
  return profile === 'projection';
}

/** Projection for hubs on separate machines, as tables. */
export function projectionTables({ command, more }: Result): string {
  const tables = KINDS.map((kind) => {
    const rows = PROJECTED.flatMap((projected) => rowOf(more, kind, projected));
    return [`${HEADS[kind]}\n`, lineOf(COLUMNS), `|${'---:|'.repeat(COLUMNS.length)}`, ...rows].join('\n');
  });
  return [`Computed by \`${command}\`.`, ...tables].join('\n\n');
}

function rowOf(more: Result['more'], kind: Kind, projected: Projected): readonly string[] {
  const { hubs, servers, cores } = projected;
  const of = (value: Parameters<typeof nameOf>[2]): number => more[nameOf(kind, projected, value)] ?? Number.NaN;
  const alone = more[nameOf(kind, PROJECTED[0] as Projected, 'per_hub')] ?? Number.NaN;
  // With another scale there are fewer hubs.
  if (Number.isNaN(of('per_hub'))) return [];
  const isAlone = servers === 0;
  const rounded = (value: number): string => Number(value.toPrecision(3)).toLocaleString('en');
  const shown = (value: number): string => (isAlone ? '' : shortened(value).toLocaleString('en'));
  return [
    lineOf([
      isAlone ? '1, alone' : String(hubs),
      isAlone ? '' : `${servers} × ${cores} cores`,
      rounded(of('per_hub')),
      rounded(of('per_hub') * hubs),
      String(shortened(of('per_hub') / alone)),
      of('front').toFixed(2),
      shown(of('nats_cores')),
      hubs === 1 ? '' : rounded(of('messages')),
      isAlone ? '' : rounded(of('per_append')),
      of('p50_ms').toFixed(1),
      of('p99_ms').toFixed(1),
    ]),
  ];
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
