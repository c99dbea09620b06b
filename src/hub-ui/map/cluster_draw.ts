import { countText } from '../controls/number_text.ts';
import type { Frame } from './canvas_layer.ts';
import { type Cluster, radiusOf } from './clusters.ts';
import type { Palette } from './palette.ts';

/** Draws the numbers; where objects have colors, a ring tells how many of each are among them. */
export function drawClusters(
  { context }: Frame,
  clusters: readonly Cluster[],
  {
    palette,
    colors,
    group,
  }: { readonly palette: Palette; readonly colors: readonly string[]; readonly group: ArrayLike<number> },
): void {
  const isColored = colors.length > 1;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.font = '600 12px Inter, system-ui, sans-serif';
  for (const { x, y, count, members } of clusters) {
    const radius = radiusOf(count);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = isColored ? palette.halo : palette.cluster;
    context.fill();
    context.lineWidth = 4;
    context.strokeStyle = palette.halo;
    context.stroke();
    if (isColored) drawRing(context, { x, y, radius }, { counts: countsOf(members, group, colors.length), colors });
    context.fillStyle = isColored ? palette.ink : palette.clusterInk;
    context.fillText(countText(count), x, y + 0.5);
  }
  context.textAlign = 'start';
}

function countsOf(members: readonly number[], group: ArrayLike<number>, groups: number): Uint32Array {
  const counts = new Uint32Array(groups);
  for (const i of members) counts[group[i]!]!++;
  return counts;
}

function drawRing(
  context: CanvasRenderingContext2D,
  { x, y, radius }: { readonly x: number; readonly y: number; readonly radius: number },
  { counts, colors }: { readonly counts: Uint32Array; readonly colors: readonly string[] },
): void {
  const all = counts.reduce((sum, count) => sum + count, 0);
  let from = -Math.PI / 2;
  context.lineWidth = 4;
  for (let group = 0; group < counts.length; group++) {
    const count = counts[group]!;
    if (count === 0) continue;
    const to = from + (2 * Math.PI * count) / all;
    context.beginPath();
    context.arc(x, y, radius - 1, from, to);
    context.strokeStyle = colors[group] ?? '';
    context.stroke();
    from = to;
  }
}
