/**
 * Placement of labels on the screen, by rank and without overlap. Hysteresis keeps labels of moving objects from flickering:
 *
 * - Among labels of equal rank, visible ones come first. A label keeps its side until a label of higher priority needs the
 *   room.
 * - A label that appears or changes its side needs a margin around it. It may stay without that margin.
 * - A label that covers a symbol waits before it tries another side. A hidden label waits before it returns.
 */

/** Position of a label relative to its point. `here` starts at the point itself. */
export type Side = 'right' | 'left' | 'above' | 'below' | 'here';

/** Sides of moving objects, in order of preference. */
export const AROUND: readonly Side[] = ['right', 'left', 'above', 'below'];

export interface LabelRequest {
  readonly key: string;
  /** Of two labels that need the same space, the higher rank wins. */
  readonly rank: number;
  /** Anchor point, in pixels of the screen. */
  readonly x: number;
  readonly y: number;
  /** Width of the text, in pixels. */
  readonly width: number;
  readonly sides: readonly Side[];
  /** Whether the label may cover symbols if no side is free of them, and returns without a delay. */
  readonly isImportant: boolean;
}

export interface PlacedLabel<Name extends LabelRequest> {
  readonly name: Name;
  /** Upper left corner of the label's box, which is as wide as the text and LABEL_PIXELS high. */
  readonly left: number;
  readonly top: number;
}

/** State of a label between frames: its side (undefined while hidden), and the time of the last change. */
export interface LabelState {
  readonly side: Side | undefined;
  readonly sinceMs: number;
}

export type LabelStates = ReadonlyMap<string, LabelState>;

export interface Around {
  readonly before: LabelStates;
  readonly nowMs: number;
  /** Points that labels avoid if possible: x and y alternate. */
  readonly symbols: ArrayLike<number>;
  /** Boxes that no label may cover: left, top, right and bottom of each. */
  readonly blocks: ArrayLike<number>;
  readonly width: number;
  readonly height: number;
  /** Maximum number of labels. */
  readonly most: number;
}

export const LABEL_PIXELS = 15;
/** Distance from the center of a symbol to its label. */
const GAP = 10;
const SYMBOL_PIXELS = 5;
/** Margin that a label needs to appear. */
const ROOM = 4;
const SETTLE_MS = 1_000;
const AWAY_MS = 700;

/** Places labels, given their previous states. Returns the placed labels by rank, and the new states. hot */
export function placeLabels<Name extends LabelRequest>(
  requests: readonly Name[],
  { before, nowMs, symbols, blocks, width, height, most }: Around,
): { readonly placed: readonly PlacedLabel<Name>[]; readonly states: LabelStates } {
  const names = new Boxes();
  for (let i = 0; i < blocks.length; i += 4) names.add(blocks[i]!, blocks[i + 1]!, blocks[i + 2]!, blocks[i + 3]!);
  const covered = new Boxes();
  for (let i = 0; i < symbols.length; i += 2) {
    const [x, y] = [symbols[i]!, symbols[i + 1]!];
    covered.add(x - SYMBOL_PIXELS, y - SYMBOL_PIXELS, x + SYMBOL_PIXELS, y + SYMBOL_PIXELS);
  }
  const free = (name: Name, side: Side, { room, mayCover }: { room: number; mayCover: boolean }): boolean => {
    const [left, top] = cornerOf(name, side);
    if (!names.isFree(left, top, name.width, room)) return false;
    return mayCover || covered.isFree(left, top, name.width, 0);
  };
  const freshSide = (name: Name, mayCover: boolean): Side | undefined =>
    name.sides.find((side) => {
      const [left, top] = cornerOf(name, side);
      const isWhole = left >= 0 && top >= 0 && left + name.width <= width && top + LABEL_PIXELS <= height;
      return (isWhole || side === 'here') && free(name, side, { room: ROOM, mayCover });
    });
  const sideOf = (name: Name, was: LabelState | undefined): Side | undefined => {
    const side = was?.side;
    if (was !== undefined && side !== undefined && free(name, side, { room: 0, mayCover: true })) {
      const mayStay =
        side === 'here' || nowMs - was.sinceMs < SETTLE_MS || free(name, side, { room: 0, mayCover: false });
      return mayStay ? side : (freshSide(name, false) ?? side);
    }
    const isAway = was !== undefined && side === undefined && nowMs - was.sinceMs < AWAY_MS;
    if (isAway && !name.isImportant) return undefined;
    return freshSide(name, false) ?? (name.isImportant ? freshSide(name, true) : undefined);
  };

  const placed: PlacedLabel<Name>[] = [];
  const states = new Map<string, LabelState>();
  for (const name of inOrder(requests, before)) {
    const was = before.get(name.key);
    const side = placed.length < most ? sideOf(name, was) : undefined;
    if (side !== undefined) {
      const [left, top] = cornerOf(name, side);
      names.add(left, top, left + name.width, top + LABEL_PIXELS);
      placed.push({ name, left, top });
    }
    if (was !== undefined && was.side === side) states.set(name.key, was);
    else if (was !== undefined || side !== undefined) states.set(name.key, { side, sinceMs: nowMs });
  }
  return { placed, states };
}

/** Sorts by rank, then visible labels first. Otherwise the order stays as given. */
function inOrder<Name extends LabelRequest>(requests: readonly Name[], before: LabelStates): readonly Name[] {
  const scored = requests.map((name) => ({
    name,
    score: name.rank * 2 + (before.get(name.key)?.side === undefined ? 0 : 1),
  }));
  return scored.sort((a, b) => b.score - a.score).map(({ name }) => name);
}

function cornerOf({ x, y, width }: LabelRequest, side: Side): readonly [left: number, top: number] {
  switch (side) {
    case 'here':
      return [x, y - LABEL_PIXELS / 2];
    case 'right':
      return [x + GAP, y - LABEL_PIXELS / 2];
    case 'left':
      return [x - GAP - width, y - LABEL_PIXELS / 2];
    case 'above':
      return [x - width / 2, y - GAP - LABEL_PIXELS];
    case 'below':
      return [x - width / 2, y + GAP];
  }
}

const ROW_PIXELS = 24;

/** Boxes on the screen, indexed by the rows that they touch. */
class Boxes {
  /** Left, top, right and bottom of each box. */
  readonly #rows = new Map<number, number[]>();

  add(left: number, top: number, right: number, bottom: number): void {
    for (let row = Math.floor(top / ROW_PIXELS); row * ROW_PIXELS <= bottom; row++) {
      const boxes = this.#rows.get(row);
      if (boxes === undefined) this.#rows.set(row, [left, top, right, bottom]);
      else boxes.push(left, top, right, bottom);
    }
  }

  /** Whether no box overlaps a label, including a margin of `room`. */
  isFree(left: number, top: number, width: number, room: number): boolean {
    const [l, t, r, b] = [left - room, top - room, left + width + room, top + LABEL_PIXELS + room];
    for (let row = Math.floor(t / ROW_PIXELS); row * ROW_PIXELS <= b; row++) {
      const boxes = this.#rows.get(row);
      if (boxes === undefined) continue;
      for (let i = 0; i < boxes.length; i += 4) {
        if (boxes[i]! < r && boxes[i + 2]! > l && boxes[i + 1]! < b && boxes[i + 3]! > t) return false;
      }
    }
    return true;
  }
}
