/** Scenes of the wall view. */
export const SCENES = ['map', 'numbers', 'alerts'] as const;
export type Scene = (typeof SCENES)[number];

const [EVERY_DEFAULT_S, EVERY_LEAST_S] = [20, 5] as const;

/** The scenes of a URL parameter, such as `map,alerts`, in its order. All scenes if it names none. */
export function scenesFrom(text: string | undefined): readonly Scene[] {
  const named = (text ?? '').split(',').flatMap((name) => SCENES.find((scene) => scene === name) ?? []);
  return named.length > 0 ? named : SCENES;
}

/** Duration of a scene in milliseconds, from a URL parameter in seconds; 20 s without a valid one. */
export function everyFrom(text: string | undefined): number {
  const seconds = Number(text ?? Number.NaN);
  return 1_000 * (Number.isFinite(seconds) && seconds > 0 ? Math.max(EVERY_LEAST_S, seconds) : EVERY_DEFAULT_S);
}
