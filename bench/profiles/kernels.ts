import { COLLISIONS } from '../kernel/collisions.bench.ts';
import { GEOMETRY } from '../kernel/geometry.bench.ts';
import { type Kernel, measureKernel } from '../kernel/kernel.ts';
import { SCENES } from '../kernel/scenes.bench.ts';
import { SHARD_STEP } from '../kernel/shard_step.bench.ts';
import { STORE } from '../kernel/store.bench.ts';
import { WAY_IN } from '../kernel/way_in.bench.ts';
import type { Result } from '../report/result.ts';
import { commandOf } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';

const ROUND_MS = 300;

const ALL: readonly Kernel[] = [...WAY_IN, ...GEOMETRY, ...SHARD_STEP, ...COLLISIONS, ...STORE, ...SCENES];

export const KERNELS: Profile = {
  name: 'kernels',
  summary:
    'nanoseconds of each step by itself, in one thread: parse, check, route, pack, H3, GEOS, step, render, store',
  async run(asked: Asked): Promise<Result> {
    const roundMs = asked.seconds === undefined ? ROUND_MS : asked.seconds * 1000;
    const more: Record<string, number> = {};
    for (const kernel of ALL) {
      asked.progress(`${kernel.name}: ${kernel.summary}`);
      more[`${kernel.name}_ns`] = await measureKernel(kernel, roundMs);
    }
    return { profile: 'kernels', command: commandOf('kernels', asked), more };
  },
};
