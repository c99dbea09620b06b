import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { resolvedFilter } from '../../../src/core/tracking/filter_settings.ts';
import { EAST, NORTH, P11, P12, P22 } from '../../../src/core/tracking/track.ts';
import { installed, run, runInstall } from '../../clients/generators/tools.ts';
import { diceOf } from '../../support/dice.ts';
import { temporaryFolder } from '../../support/temporary_folder.ts';
import { filterAll, metersOf, randomFixes } from './filter_runs.ts';

const ORACLE = fileURLToPath(new URL('oracle.py', import.meta.url));
const PIP = ['install', '--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '20'];
const PACKAGE = 'bayesian-filters==1.4.5';
const TRACKS = 100;
const TOLERANCE = 1e-6;

const python =
  spawnSync('python3', ['--version']).status === 0
    ? await installed('bayesian-filters-1.4.5', async (folder) => {
        await runInstall('python3', ['-m', 'venv', folder], { cwd: folder });
        await runInstall(join(folder, 'bin/python'), ['-m', 'pip', ...PIP, PACKAGE], { cwd: folder });
      })
    : { folder: '', skip: 'python3 is not installed' };

type State = readonly [number, number, number, number, number, number, number, accepted: 0 | 1];

test('on 100 random tracks, with and without outliers, the states equal those of bayesian-filters', {
  skip: python.skip,
}, async () => {
  const tracks = Array.from({ length: TRACKS }, (_, seed) => {
    const dice = diceOf(seed + 1);
    const settings = { process_noise: 0.2 + dice(30) / 10, gate: seed % 2 === 0 ? 13.8 : 1e9 };
    return { settings, fixes: randomFixes(dice, { jumps: seed % 2 === 0 }) };
  });
  const folder = temporaryFolder();
  const file = join(folder, 'tracks.json');
  const forOracle = tracks.map(({ settings: { process_noise: noise, gate }, fixes }) => {
    return { noise, gate, speed: 100, fixes: fixes.map((fix) => [fix.ms, fix.east, fix.north, fix.accuracy]) };
  });
  writeFileSync(file, JSON.stringify(forOracle));
  const expected = JSON.parse(
    await run(join(python.folder, 'bin/python'), [ORACLE, file], { cwd: folder }),
  ) as State[][];
  let outliers = 0;
  tracks.forEach(({ settings: own, fixes }, number) => {
    const settings = resolvedFilter([{ kind: 'cv', ...own, reset_after: 1e6, max_gap: 3_600_000 }]);
    filterAll(
      fixes,
      (track, verdict, index) => {
        const found = [...metersOf([0, 0], track), ...[EAST, NORTH, P11, P12, P22].map((i) => track[i] as number)];
        const state = expected[number]?.[index] ?? assert.fail('The oracle has no such state');
        assert.equal(verdict === 'outlier' ? 0 : 1, state[7], `track ${number}, fix ${index}`);
        if (verdict === 'outlier') outliers++;
        found.forEach((value, i) => {
          const wanted = state[i] as number;
          const off = Math.abs(value - wanted) / Math.max(1, Math.abs(wanted));
          assert.ok(off < TOLERANCE, `track ${number}, fix ${index}, value ${i}: ${value}, expected ${wanted}`);
        });
      },
      { settings },
    );
  });
  assert.ok(outliers > TRACKS, `only ${outliers} outliers`);
});
