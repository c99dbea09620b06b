import type Polygon from 'ol/geom/Polygon.js';
import { boxesOf } from '../objects/clusters.ts';
import type { MovingLayerState } from '../objects/moving_layer.tsx';
import { type AreaName, areaName } from '../plane/label_position.ts';
import type { CanvasFrame } from '../view/canvas_layer.ts';
import type { AlarmSeverity, Palette } from '../view/palette.ts';
import { AROUND, LABEL_PIXELS, placeLabels, type Side, type LabelStates, type LabelRequest } from './labels.ts';

/** Density of labels: `auto` shows those that have room, `all` as many as fit without overlap. */
export type NamesShown = 'auto' | 'all';

/** An area with a label. */
export interface NamedArea {
  readonly key: string;
  readonly text: string;
  readonly polygon: Polygon;
  readonly kind: 'zones' | 'fences';
  readonly isSelected: boolean;
}

/** Reason why the label of an object comes before others. */
export type Emphasis = AlarmSeverity | 'collision';

/** Moving objects with labels. */
export interface NamedObjects {
  readonly kind: 'trackables' | 'providers';
  readonly moving: MovingLayerState | undefined;
  readonly selectedId: string | undefined;
  /** Objects with an alert, and colliding ones, by id. */
  readonly alarmed: ReadonlyMap<string, Emphasis>;
}

export interface BoardLook {
  readonly shown: NamesShown;
  /** Scale of labels. They are placed in screen coordinates divided by this factor. */
  readonly scale: number;
  readonly palette: Palette;
  readonly areas: readonly NamedArea[];
  /** Layers of objects, topmost first. */
  readonly objects: readonly NamedObjects[];
}

/** Priority of labels. Areas do not move, so they come before objects that pass them. */
const RANK = { selected: 6, alarmed: 5, fence: 4, inside: 3, zone: 2, trackable: 1, provider: 0 } as const;

interface Name extends LabelRequest {
  readonly text: string;
  readonly color: string;
  readonly weight: number;
}

/** Maximum number of objects considered per frame, and of labels among them. */
const CANDIDATES_MAX = 600;
const PLACED_MAX = { auto: 120, all: 250 } as const;
const SIZE_PIXELS = 11.5;
const TEXTS_MAX = 1_500;
const HERE: readonly Side[] = ['here'];
const NONE: readonly number[] = [];

/** Labels on the map, with their state between frames. */
export class LabelBoard {
  #states: LabelStates = new Map();
  readonly #texts = new Texts();
  /** Label positions of areas, valid until the zoom changes. */
  readonly #places = new WeakMap<Polygon, { readonly resolution: number; readonly place: AreaName | undefined }>();

  /** Clears the cache of rendered labels, after their font has loaded. */
  forget(): void {
    this.#texts.forget();
  }

  /** hot: once per frame, see bench/ui */
  draw(frame: CanvasFrame, look: BoardLook, nowMs: number): void {
    const { width, height, context } = frame;
    const { scale } = look;
    // Canvas pixels per unit of label placement.
    const pixelRatio = frame.pixelRatio * scale;
    const requests: Name[] = [];
    const symbols: number[] = [];
    for (const area of look.areas) {
      const name = this.#areaName(frame, area, look);
      if (name !== undefined) requests.push(name);
    }
    for (const objects of look.objects) this.#addObjects(requests, symbols, { objects, look });
    const { placed, states } = placeLabels(requests, {
      before: this.#states,
      nowMs,
      symbols: look.shown === 'auto' ? symbols : NONE,
      blocks: look.objects.flatMap(({ moving }) => boxesOf(moving?.screen.clusters ?? [])).map((each) => each / scale),
      width: width / scale,
      height: height / scale,
      most: PLACED_MAX[look.shown],
    });
    this.#states = states;
    for (let at = placed.length - 1; at >= 0; at--) {
      const { name, left, top } = placed[at]!;
      const { image, padding } = this.#texts.of(name, look.palette.halo, pixelRatio);
      const x = Math.round((left - padding) * pixelRatio) / frame.pixelRatio;
      const y = Math.round((top - padding) * pixelRatio) / frame.pixelRatio;
      context.drawImage(image, x, y, image.width / frame.pixelRatio, image.height / frame.pixelRatio);
    }
  }

  #areaName(
    { toPixel, resolution, width, height }: CanvasFrame,
    area: NamedArea,
    { palette, scale }: BoardLook,
  ): Name | undefined {
    const [a, b, c, d, e, f] = toPixel;
    const isZone = area.kind === 'zones';
    const found = this.#placeOf(area, resolution * scale);
    if (found === undefined) return undefined;
    const [mapX = 0, mapY = 0] = found.at;
    const [x, y] = [a * mapX + c * mapY + e, b * mapX + d * mapY + f];
    if (x < -200 || y < -LABEL_PIXELS || x > width + 200 || y > height + LABEL_PIXELS) return undefined;
    const weight = isZone ? 600 : 500;
    const textWidth = this.#texts.widthOf(found.text, weight);
    return {
      key: area.key,
      rank: area.isSelected ? RANK.selected : isZone ? RANK.zone : RANK.fence,
      x: found.align === 'left' ? x / scale : x / scale - textWidth / 2,
      y: y / scale,
      width: textWidth,
      sides: HERE,
      // Users expect the label of an area inside the area.
      isImportant: true,
      text: found.text,
      color: area.isSelected ? palette.selected : isZone ? palette.zone : palette.fence,
      weight,
    };
  }

  #placeOf({ polygon, text, kind }: NamedArea, resolution: number): AreaName | undefined {
    const cached = this.#places.get(polygon);
    if (cached?.resolution === resolution) return cached.place;
    const place = areaName(polygon, { text, isZone: kind === 'zones', resolution });
    this.#places.set(polygon, { resolution, place });
    return place;
  }

  #addObjects(
    requests: Name[],
    symbols: number[],
    { objects, look }: { readonly objects: NamedObjects; readonly look: BoardLook },
  ): void {
    const { kind, moving, selectedId, alarmed } = objects;
    if (moving === undefined) return;
    const { screen, objects: all } = moving;
    const isCrowd = screen.drawn > CANDIDATES_MAX || (screen.density !== 'single' && screen.clusters.length === 0);
    const isProvider = kind === 'providers';
    let [alarms, others] = [0, 0];
    for (let s = 0; s < screen.drawn; s++) {
      const i = screen.indices[s]!;
      const facts = all.facts[i];
      if (facts === undefined) continue;
      const [x, y] = [screen.x[i]! / look.scale, screen.y[i]! / look.scale];
      if (!isCrowd) symbols.push(x, y);
      const isSelected = facts.id === selectedId;
      const emphasis = isSelected || alarmed.size === 0 ? undefined : alarmed.get(facts.id);
      const isAlarmed = emphasis !== undefined;
      const key = isProvider ? `provider ${facts.id}` : facts.id;
      if (!isSelected) {
        if (!isAlarmed && isCrowd && look.shown === 'auto') continue;
        // Above the limit, only labels that are already visible get a place. Alarmed objects have a limit of their own.
        const before = isAlarmed ? alarms : others;
        if (before >= CANDIDATES_MAX && this.#states.get(key)?.side === undefined) continue;
        if (isAlarmed) alarms++;
        else others++;
      }
      const text = shortened(facts.name || facts.id);
      const weight = isSelected ? 650 : 500;
      const usual = isProvider ? RANK.provider : all.inside[i] === 1 ? RANK.inside : RANK.trackable;
      requests.push({
        key,
        rank: isSelected ? RANK.selected : isAlarmed ? RANK.alarmed : usual,
        x,
        y,
        width: this.#texts.widthOf(text, weight),
        sides: AROUND,
        isImportant: isSelected || isAlarmed,
        text,
        color: isSelected ? look.palette.selected : colorOf(emphasis, look.palette),
        weight,
      });
    }
  }
}

function colorOf(emphasis: Emphasis | undefined, colors: Palette): string {
  return emphasis === undefined || emphasis === 'collision' ? colors.ink : colors[emphasis];
}

function shortened(text: string): string {
  return text.length > 22 ? `${text.slice(0, 21)}…` : text;
}

interface DrawnText {
  readonly image: HTMLCanvasElement;
  /** Padding around the text, in CSS pixels. */
  readonly padding: number;
}

/** Cache of rendered labels: stroking and filling every label in each frame would take most of the frame. */
class Texts {
  readonly #drawn = new Map<string, DrawnText>();
  /** Text widths by font weight and text. A combined key would be built and hashed for each label in each frame. */
  readonly #widths = new Map<number, Map<string, number>>();
  readonly #ruler = document.createElement('canvas').getContext('2d');

  forget(): void {
    this.#drawn.clear();
    this.#widths.clear();
  }

  widthOf(text: string, weight: number): number {
    const cached = this.#widths.get(weight)?.get(text);
    if (cached !== undefined) return cached;
    const widths = this.#widths.get(weight) ?? new Map<string, number>();
    if (widths.size > 4 * TEXTS_MAX) widths.clear();
    this.#widths.set(weight, widths);
    if (this.#ruler !== null) this.#ruler.font = fontOf(weight);
    const width = this.#ruler?.measureText(text).width ?? text.length * 6.5;
    widths.set(text, width);
    return width;
  }

  of({ text, color, weight, width }: Name, halo: string, pixelRatio: number): DrawnText {
    const key = `${color} ${weight} ${pixelRatio} ${text}`;
    const cached = this.#drawn.get(key);
    if (cached !== undefined) return cached;
    if (this.#drawn.size > TEXTS_MAX) this.#drawn.clear();
    const padding = 3;
    const image = document.createElement('canvas');
    image.width = Math.ceil((width + 2 * padding) * pixelRatio);
    image.height = Math.ceil((LABEL_PIXELS + 2 * padding) * pixelRatio);
    const context = image.getContext('2d');
    if (context !== null) {
      context.scale(pixelRatio, pixelRatio);
      context.font = fontOf(weight);
      context.textBaseline = 'middle';
      context.lineJoin = 'round';
      context.lineWidth = 3.5;
      context.strokeStyle = halo;
      context.fillStyle = color;
      context.strokeText(text, padding, padding + LABEL_PIXELS / 2);
      context.fillText(text, padding, padding + LABEL_PIXELS / 2);
    }
    const drawn = { image, padding };
    this.#drawn.set(key, drawn);
    return drawn;
  }
}

function fontOf(weight: number): string {
  return `${weight} ${SIZE_PIXELS}px Inter, system-ui, sans-serif`;
}
