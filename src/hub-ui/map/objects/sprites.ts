/** Sprite sheet of moving objects: the symbol without a heading, then one per direction. */
export interface Sprites {
  readonly image: HTMLCanvasElement;
  /** Side of one symbol, in CSS pixels. */
  readonly size: number;
  readonly pixelRatio: number;
}

/** Kind of the objects in a layer. */
export type LayerSymbol = 'trackable' | 'provider';
export type SymbolName = LayerSymbol | 'unassigned';
/** `alarm` is the ring around objects with an alert, `collision` the cross next to objects that collide. */
type PictureName = SymbolName | 'alarm' | 'collision';

const DIRECTIONS = 36;
const SIZE = 26;
const ALARM_SIZE = 32;
export const ALARM_RADIUS = 13;
const made = new Map<string, Sprites>();

/** Column of the symbol for a heading in degrees; NaN is the first. */
export function spriteColumn(heading: number): number {
  if (Number.isNaN(heading)) return 0;
  const turned = Math.round((((heading % 360) + 360) % 360) / (360 / DIRECTIONS));
  return 1 + (turned % DIRECTIONS);
}

/** Returns the cached sprites of a symbol in a color. `pixelRatio` is the number of device pixels per CSS pixel. */
export function spritesOf(
  symbol: PictureName,
  {
    color,
    halo,
    pixelRatio,
    isSmall,
  }: { readonly color: string; readonly halo: string; readonly pixelRatio: number; readonly isSmall: boolean },
): Sprites {
  const key = `${symbol} ${color} ${halo} ${pixelRatio} ${isSmall}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const [size, columns] = symbol === 'alarm' || symbol === 'collision' ? [ALARM_SIZE, 1] : [SIZE, DIRECTIONS + 1];
  const image = document.createElement('canvas');
  image.width = size * columns * pixelRatio;
  image.height = size * pixelRatio;
  const context = image.getContext('2d');
  for (let column = 0; context !== null && column < columns; column++) {
    context.setTransform(pixelRatio, 0, 0, pixelRatio, (column + 0.5) * size * pixelRatio, (size / 2) * pixelRatio);
    if (column > 0) context.rotate(((column - 1) * 2 * Math.PI) / DIRECTIONS);
    // A small symbol cannot show a direction.
    drawSymbol(context, symbol, { color, halo, hasHeading: column > 0 && !isSmall, isSmall });
  }
  const sprites = { image, size, pixelRatio };
  made.set(key, sprites);
  return sprites;
}

interface SymbolLook {
  readonly color: string;
  readonly halo: string;
  readonly hasHeading: boolean;
  readonly isSmall: boolean;
}

function drawSymbol(
  context: CanvasRenderingContext2D,
  symbol: PictureName,
  { color, halo, hasHeading, isSmall }: SymbolLook,
): void {
  if (symbol === 'alarm') {
    drawAlarm(context, color, halo);
    return;
  }
  if (symbol === 'collision') {
    drawCollision(context, color, halo);
    return;
  }
  const radius = isSmall ? 2 : symbol === 'trackable' ? 5.5 : 3.5;
  context.beginPath();
  if (hasHeading) {
    // A drop whose tip shows the heading.
    const tip = radius + (symbol === 'trackable' ? 6 : 5);
    const from = -Math.PI / 2 + 0.62;
    context.arc(0, 0, radius, from, from + 2 * Math.PI - 1.24);
    context.lineTo(0, -tip);
    context.closePath();
  } else if (symbol === 'unassigned' && !isSmall) {
    // A diamond, so that its shape alone distinguishes it from the ring of a provider.
    const half = radius + 2.5;
    context.moveTo(0, -half);
    context.lineTo(half, 0);
    context.lineTo(0, half);
    context.lineTo(-half, 0);
    context.closePath();
  } else {
    context.arc(0, 0, radius, 0, 2 * Math.PI);
  }
  context.lineJoin = 'round';
  context.lineWidth = isSmall ? 1 : 3;
  context.strokeStyle = halo;
  context.stroke();
  if (symbol === 'trackable') {
    context.fillStyle = color;
    context.fill();
    return;
  }
  context.fillStyle = halo;
  context.fill();
  context.lineWidth = isSmall ? 1 : 1.75;
  context.strokeStyle = color;
  context.stroke();
}

/** A cross at the upper right of the symbol, inside the ring of an alert. */
function drawCollision(context: CanvasRenderingContext2D, color: string, halo: string): void {
  const [x, y, half] = [7, -7, 3];
  context.beginPath();
  context.moveTo(x - half, y - half);
  context.lineTo(x + half, y + half);
  context.moveTo(x + half, y - half);
  context.lineTo(x - half, y + half);
  context.lineCap = 'round';
  context.strokeStyle = halo;
  context.lineWidth = 5;
  context.stroke();
  context.strokeStyle = color;
  context.lineWidth = 2;
  context.stroke();
}

function drawAlarm(context: CanvasRenderingContext2D, color: string, halo: string): void {
  context.beginPath();
  context.arc(0, 0, ALARM_RADIUS, 0, 2 * Math.PI);
  context.strokeStyle = halo;
  context.lineWidth = 5;
  context.stroke();
  context.strokeStyle = color;
  context.lineWidth = 2.5;
  context.stroke();
}
