import { t } from '../languages/language.ts';
import { decodeText } from './decode_text.ts';
import type { FilePosition } from './drawing.ts';
import { readDxfLines } from './dxf.ts';

/** A drawing as an image, with its width on the ground. */
export interface DrawnPlan {
  readonly svg: string;
  readonly widthMeters: number;
}

/** Margin around the lines, as a share of the longer side. */
const MARGIN = 0.02;
/** Width of a line, as a share of the longer side: two pixels of 3,000. */
const LINE_WIDTH = 2 / 3_000;

/**
 * Draws all lines of a DXF file, open ones included. Throws an Error with the reason if the file is not DXF or has no lines.
 */
export function drawDxf(bytes: Uint8Array): DrawnPlan {
  const lines = readDxfLines(decodeText(bytes, 'dxf').text);
  const [left, bottom, right, top] = boundsOf(lines);
  const longer = Math.max(right - left, top - bottom);
  if (!(longer > 0)) throw new Error(t('The drawing has no lines that its model shows'));
  const margin = MARGIN * longer;
  const [width, height] = [right - left + 2 * margin, top - bottom + 2 * margin];
  const number = (value: number): string => value.toFixed(3);
  const paths = lines.map((line) => {
    const points = line.map(([x = 0, y = 0]) => `${number(x - left + margin)} ${number(top + margin - y)}`);
    return `M${points.join('L')}`;
  });
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${number(width)} ${number(height)}">` +
    `<path d="${paths.join('')}" fill="none" stroke="#333" stroke-width="${LINE_WIDTH * longer}"/></svg>`;
  return { svg, widthMeters: width };
}

function boundsOf(lines: readonly (readonly FilePosition[])[]): [number, number, number, number] {
  const bounds: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const line of lines) {
    for (const [x = 0, y = 0] of line) {
      bounds[0] = Math.min(bounds[0], x);
      bounds[1] = Math.min(bounds[1], y);
      bounds[2] = Math.max(bounds[2], x);
      bounds[3] = Math.max(bounds[3], y);
    }
  }
  return bounds;
}
