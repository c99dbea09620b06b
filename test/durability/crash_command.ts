import { parseArgs } from 'node:util';
import { reportOf, runCrashRounds } from './crash_rounds.ts';

/** `npm run crash -- --rounds 100 --seed 1`: kills a hub again and again, and reports what was lost. */
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
});
const options = { rounds: Number(values.rounds), seed: Number(values.seed) };
const ends: (() => void)[] = [];
const findings = await runCrashRounds({
  ...options,
  done: (rounds) =>
    process.stderr.write(
      `${process.stderr.isTTY ? '\r' : ''}round ${rounds} of ${options.rounds}${process.stderr.isTTY ? '' : '\n'}`,
    ),
  atEnd: (callback) => void ends.push(callback),
});
for (const end of ends) end();
process.stdout.write(`${reportOf(findings, options)}\n`);
process.exit(findings.wrongs.length === 0 ? 0 : 1);
