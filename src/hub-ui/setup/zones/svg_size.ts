/** Attributes of the root of an SVG document; undefined if absent. */
interface SvgAttributes {
  readonly width: string | undefined;
  readonly height: string | undefined;
  readonly viewBox: string | undefined;
}

/** Pixels per absolute CSS unit. */
const PIXELS: Readonly<Record<string, number>> = {
  '': 1,
  px: 1,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  q: 96 / 101.6,
  pt: 96 / 72,
  pc: 16,
};

/**
 * Size of an SVG document in pixels. A side without a length follows from the aspect ratio of the view box; without any
 * length, the view box is the size. Returns undefined if the document has neither.
 */
export function svgSize({ width: w = '', height: h = '', viewBox = '' }: SvgAttributes) {
  const [width, height] = [pixelsOf(w), pixelsOf(h)];
  if (width !== undefined && height !== undefined) return { width, height };
  const [, , boxWidth = 0, boxHeight = 0] = viewBox
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  if (!(boxWidth > 0 && boxHeight > 0)) return undefined;
  const aspect = boxWidth / boxHeight;
  if (width !== undefined) return { width, height: width / aspect };
  if (height !== undefined) return { width: height * aspect, height };
  return { width: boxWidth, height: boxHeight };
}

/** Undefined for relative lengths such as `100%`, and unless positive. */
function pixelsOf(length: string): number | undefined {
  const [, number = '', unit = ''] = /^\+?((?:\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?)([a-z]*)$/i.exec(length.trim()) ?? [];
  const pixels = Number(number) * (PIXELS[unit.toLowerCase()] ?? Number.NaN);
  return number !== '' && pixels > 0 ? pixels : undefined;
}
