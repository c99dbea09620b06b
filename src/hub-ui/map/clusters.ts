import { countText } from '../controls/number_text.ts';
import type { Frame } from './canvas_layer.ts';
import { CELL, isCrowded, type Spread } from './density.ts';
import type { Palette } from './palette.ts';

/** Objects that are so near to each other that they are shown as a number. */
export interface Cluster {
  readonly x: number;
  readonly y: number;
  readonly count: number;
}

/** Where many are near to each other, fewer and larger numbers leave room to see what is below them. */
const LARGE_CELL = 104;
const LEAST = 3;

/** Gathers the objects of each cell of the screen; those that remain alone stay on the screen as they are. */
export function clusterObjects(screen: Spread): Cluster[] {
  const side = isCrowded(screen) ? LARGE_CELL : CELL;
  const cells = new Map<number, { x: number; y: number; indices: number[] }>();
  for (let s = 0; s < screen.drawn; s++) {
    const i = screen.indices[s]!;
    const key = Math.floor(screen.x[i]! / side) * 10_000 + Math.floor(screen.y[i]! / side);
    const cell = cells.get(key) ?? { x: 0, y: 0, indices: [] };
    cells.set(key, cell);
    cell.x += screen.x[i]!;
    cell.y += screen.y[i]!;
    cell.indices.push(i);
  }
  const clusters: Cluster[] = [];
  let drawn = 0;
  for (const { x, y, indices } of cells.values()) {
    const count = indices.length;
    if (count >= LEAST) clusters.push({ x: x / count, y: y / count, count });
    else for (const i of indices) screen.indices[drawn++] = i;
  }
  screen.drawn = drawn;
  return clusters;
}

export function drawClusters({ context }: Frame, clusters: readonly Cluster[], palette: Palette): void {
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (const { x, y, count } of clusters) {
    const radius = radiusOf(count);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = palette.cluster;
    context.fill();
    context.lineWidth = 4;
    context.strokeStyle = palette.halo;
    context.stroke();
    context.fillStyle = palette.clusterInk;
    context.font = '600 12px Inter, system-ui, sans-serif';
    context.fillText(countText(count), x, y + 0.5);
  }
  context.textAlign = 'start';
}

/** The cluster at a pixel of the screen. */
export function clusterAt(clusters: readonly Cluster[], [px = 0, py = 0]: readonly number[]): Cluster | undefined {
  return clusters.find(({ x, y, count }) => Math.hypot(x - px, y - py) <= radiusOf(count));
}

function radiusOf(count: number): number {
  // A number of four digits and a comma needs the most room.
  return Math.min(28, 11 + Math.log2(count) * 1.6);
}
