/**
 * Where names stand on the screen. Those of a higher rank go first, and no two cover each other. What moves does not make them
 * flicker:
 *
 * - a name that is there goes before others of its rank, and keeps its side as long as no other name needs the room;
 * - one that is new or changes its side needs some room around it, which it may lose again while it stays;
 * - one that covers a symbol waits before it looks for another side, and one that had to go, before it comes back.
 */

/** Position of a label relative to its point; `here`: to the right of it only. */
export type Side = 'right' | 'left' | 'above' | 'below' | 'here';

/** Sides of what moves, the best first. */
export const AROUND: readonly Side[] = ['right', 'left', 'above', 'below'];

export interface LabelRequest {
  readonly key: string;
  /** Of two names that need the same room, the one of the higher rank has it. */
  readonly rank: number;
  /** The point that it belongs to, in pixels of the screen. */
  readonly x: number;
  readonly y: number;
  /** Of its text, in pixels. */
  readonly width: number;
  readonly sides: readonly Side[];
  /** It covers symbols where no side is free of them, and comes back without waiting. */
  readonly isImportant: boolean;
}

export interface PlacedLabel<Name extends LabelRequest> {
  readonly name: Name;
  /** Upper left corner of its box, which is as wide as its text and LABEL_PIXELS high. */
  readonly left: number;
  readonly top: number;
}

/** State of a label between two frames: its side, undefined for a hidden one, and since when. */
export interface LabelState {
  readonly side: Side | undefined;
  readonly sinceMs: number;
}

export type LabelStates = ReadonlyMap<string, LabelState>;

export interface Around {
  readonly before: LabelStates;
  readonly nowMs: number;
  /** Points that names keep off where they can: x and y in turn. */
  readonly symbols: ArrayLike<number>;
  /** Left, top, right and bottom in turn of what no name covers. */
  readonly blocks: ArrayLike<number>;
  readonly width: number;
  readonly height: number;
  /** No more names than these are placed. */
  readonly most: number;
}

export const LABEL_PIXELS = 15;
/** From the middle of a symbol to its name. */
const GAP = 10;
const SYMBOL_PIXELS = 5;
/** Additional free space that a new label needs. */
const ROOM = 4;
const SETTLE_MS = 1_000;
const AWAY_MS = 700;

/** Places names, given how they stood before; returns them in the order of their ranks, and how they stand now. hot */
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
  return { placed, states: states };
}

/** By rank, within it those that are there already, else as given. */
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

/** Boxes on the screen, found by the rows that they touch. */
class Boxes {
  /** Left, top, right and bottom of each in turn. */
  readonly #rows = new Map<number, number[]>();

  add(left: number, top: number, right: number, bottom: number): void {
    for (let row = Math.floor(top / ROW_PIXELS); row * ROW_PIXELS <= bottom; row++) {
      const boxes = this.#rows.get(row);
      if (boxes === undefined) this.#rows.set(row, [left, top, right, bottom]);
      else boxes.push(left, top, right, bottom);
    }
  }

  /** Whether nothing is in a box of a name, or nearer to it than `room`. */
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
