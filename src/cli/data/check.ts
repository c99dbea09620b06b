import { SCHEMA_VERSION } from '../../store/migration/steps.ts';
import { type Report, reportOn } from '../../store/report.ts';
import { CommandError } from '../command_error.ts';
import { databaseHere } from './place.ts';
import { megabytes, Steps } from './steps.ts';

/** `check`: looks through the database and says what is in it. Throws a CommandError when something is wrong with it. */
export function checkCommand(): void {
  const path = databaseHere();
  const steps = new Steps();
  steps.show({ text: `Checking ${path}`, part: 0 });
  const report = reportOn(path);
  steps.done(describe(path, report).join('\n'));
  if (report.problems.length === 0) return;
  throw new CommandError(`${path} is damaged: npm run hub -- restore FILE puts a backup in its place`);
}

function describe(path: string, report: Report): string[] {
  const { version, hubId, bytes, logBytes, counts, migrations, problems, notes } = report;
  const log = logBytes === 0 ? '' : `, and ${megabytes(logBytes)} of log`;
  return [
    `${path}: ${megabytes(bytes)}${log}`,
    `version ${version}${version === SCHEMA_VERSION ? ', which is the present one' : ''}; hub ${hubId}`,
    ...migrations.map((each) => `version ${each.version} since ${new Date(each.atMs).toISOString()}: ${each.name}`),
    [...counts].map(([kind, count]) => `${kind} ${count}`).join(', '),
    ...notes.map((note) => `Note: ${note}`),
    ...problems.map((problem) => `Problem: ${problem}`),
    problems.length === 0 ? 'It is sound' : `${problems.length} problems`,
  ];
}
