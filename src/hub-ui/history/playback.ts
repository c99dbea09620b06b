import { signal } from '@preact/signals';
import type { MovingObjects } from '../map/objects/moving_objects.ts';
import type { ObjectKind } from './history_api.ts';
import type { Covered, TrackStore } from './track_store.ts';

/** Playable layer of objects. */
export interface Played {
  readonly kind: ObjectKind;
  readonly tracks: TrackStore;
  /** Draws the objects where `tracks` has put them. */
  draw(): void;
}

/** State of playback, for display. */
export interface PlaybackState {
  readonly state: 'ready' | 'loading' | 'failed';
  readonly problem: unknown;
  /** Whether nothing was recorded at the current time. */
  readonly isEmpty: boolean;
  readonly isIncomplete: boolean;
  readonly isCut: boolean;
  readonly covered: readonly Covered[];
}

/** Maximum step of one frame, so that playback does not skip ahead after the tab was hidden. */
const FRAME_MAX_MS = 250;
/** Interval at which displayed values change. */
const PUBLISH_MS = 100;

const NOTHING: PlaybackState = {
  state: 'loading',
  problem: undefined,
  isEmpty: false,
  isIncomplete: false,
  isCut: false,
  covered: [],
};

/** Clock of playback. It waits for chunks that have not arrived. */
class Playback {
  /** Displayed time, updated ten times a second; undefined in the live view. */
  readonly atMs = signal<number | undefined>(undefined);
  readonly isPlaying = signal(false);
  readonly status = signal<PlaybackState>(NOTHING);
  /** Called when playback reaches the present. */
  onEnd: (() => void) | undefined;
  readonly #played = new Set<Played>();
  #exactMs = Number.NaN;
  #speed = 1;
  #frame = 0;
  #lastMs = Number.NaN;
  #publishedMs = 0;

  /** Adds a layer; returns a function that removes it. */
  add(played: Played): () => void {
    this.#played.add(played);
    this.refresh();
    return () => {
      this.#played.delete(played);
      this.#publish();
    };
  }

  /** Seeks to a time. */
  seek(atMs: number): void {
    this.#exactMs = atMs;
    this.atMs.value = atMs;
    this.refresh();
  }

  setSpeed(speed: number): void {
    this.#speed = speed;
    this.refresh();
  }

  play(): void {
    if (this.isPlaying.peek() || !Number.isFinite(this.#exactMs)) return;
    this.isPlaying.value = true;
    this.#lastMs = Number.NaN;
    this.#frame = requestAnimationFrame((frameMs) => this.#go(frameMs));
  }

  pause(): void {
    cancelAnimationFrame(this.#frame);
    this.isPlaying.value = false;
    if (Number.isFinite(this.#exactMs)) this.atMs.value = this.#exactMs;
  }

  /** Returns to the live view. */
  leave(): void {
    this.pause();
    this.#exactMs = Number.NaN;
    this.atMs.value = undefined;
    this.status.value = NOTHING;
  }

  /** Objects of a kind, as drawn. */
  objectsOf(kind: ObjectKind): MovingObjects | undefined {
    return [...this.#played].find((played) => played.kind === kind)?.tracks.objects;
  }

  tryAgain(): void {
    for (const { tracks } of this.#played) tracks.tryAgain();
    this.refresh();
  }

  /** Draws the current time on all layers whose chunks have arrived. */
  refresh(): void {
    if (!Number.isFinite(this.#exactMs)) return;
    for (const { tracks } of this.#played) tracks.want(this.#exactMs, this.#speed);
    this.#show();
    this.#publish();
  }

  /** hot: once per frame */
  #go(frameMs: number): void {
    this.#frame = requestAnimationFrame((next) => this.#go(next));
    const passedMs = Math.min(FRAME_MAX_MS, frameMs - this.#lastMs);
    this.#lastMs = frameMs;
    if (!Number.isFinite(passedMs)) return;
    const nextMs = this.#exactMs + passedMs * this.#speed;
    if (nextMs >= Date.now()) {
      this.onEnd?.();
      return;
    }
    let areReady = true;
    for (const { tracks } of this.#played) {
      tracks.want(nextMs, this.#speed);
      if (!tracks.isReady(nextMs)) areReady = false;
    }
    if (areReady) {
      this.#exactMs = nextMs;
      this.#show();
    }
    if (frameMs - this.#publishedMs < PUBLISH_MS) return;
    this.#publishedMs = frameMs;
    this.atMs.value = this.#exactMs;
    this.#publish();
  }

  #show(): void {
    for (const { tracks, draw } of this.#played) {
      tracks.show(this.#exactMs, this.#speed);
      draw();
    }
  }

  #publish(): void {
    const all = [...this.#played].map(({ tracks }) => tracks);
    const atMs = this.#exactMs;
    const problem = all.map((tracks) => tracks.problem).find((each) => each !== undefined);
    const areReady = all.every((tracks) => tracks.isReady(atMs));
    const covered = all.flatMap((tracks) => tracks.covered());
    const here = covered.filter(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
    const next: PlaybackState = {
      state: problem !== undefined ? 'failed' : areReady ? 'ready' : 'loading',
      problem,
      isEmpty: areReady && all.length > 0 && here.every((piece) => piece.isEmpty),
      isIncomplete: all.some((tracks) => tracks.isIncomplete),
      isCut: all.some((tracks) => tracks.isCut),
      covered,
    };
    if (!isSame(next, this.status.peek())) this.status.value = next;
  }
}

function isSame(a: PlaybackState, b: PlaybackState): boolean {
  const keyOf = ({ problem: _, ...rest }: PlaybackState): string => JSON.stringify(rest);
  return a.problem === b.problem && keyOf(a) === keyOf(b);
}

/** Playback of the page, which has at most one map. */
export const playback = new Playback();
