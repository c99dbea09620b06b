import { randomFrom } from '../load/random.ts';
import { type Figures, figuresOf } from '../locating/figures.ts';
import { cv, type PlaneFilter, perAxis, raw } from '../locating/filters.ts';
import { uwbTrack } from '../locating/uwb_track.ts';
import type { Result } from '../report/result.ts';
import { commandOf } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';

const [SEED, TRACKS, TRACK_MS] = [39, 60, 600_000] as const;

const FILTERS: Readonly<Record<string, () => PlaneFilter>> = {
  raw,
  cv: () => cv(),
  // As docs/locating.md recommends for people with 10 fixes a second.
  cv_person: () => cv({ process_noise: 1.5, gate: 9.2, reset_after: 10, max_speed: 2 }),
  per_axis_0_01: () => perAxis(0.01),
  per_axis_0_001: () => perAxis(0.001),
};

/** The tables of docs/locating.md. */
export const LOCATING: Profile = {
  name: 'locating',
  summary: 'quality of filtered positions on simulated UWB tracks with known true positions',
  run(asked: Asked): Promise<Result> {
    const random = randomFrom(SEED);
    const tracks = Array.from({ length: Math.max(1, Math.round(TRACKS * asked.scale)) }, () =>
      uwbTrack(random, TRACK_MS),
    );
    const more: Record<string, number> = {};
    for (const [name, make] of Object.entries(FILTERS)) {
      asked.progress(name);
      const figures: Figures = figuresOf(tracks, make);
      for (const [figure, value] of Object.entries(figures)) more[`${name}_${figure}`] = value;
    }
    return Promise.resolve({ profile: 'locating', command: commandOf('locating', asked), more });
  },
};
