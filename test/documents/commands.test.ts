import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PROFILES } from '../../bench/profiles/all.ts';
import { dataCommands } from '../../src/cli/data/commands.ts';
import { demoCommand } from '../../src/cli/demo/demo.ts';
import { doctorCommand } from '../../src/cli/doctor/doctor.ts';
import { eraseCommand } from '../../src/cli/erase.ts';
import { keysCommand } from '../../src/cli/keys.ts';
import { replayCommand } from '../../src/cli/replay/replay.ts';
import { rpcCommand } from '../../src/cli/rpc.ts';
import { searchCommand } from '../../src/cli/search.ts';
import { auditCommand } from '../../src/cli/audit.ts';
import { sinksCommand } from '../../src/cli/sinks.ts';
import { sourcesCommand } from '../../src/cli/sources.ts';
import { supportBundleCommand } from '../../src/cli/support/command.ts';
import { tailCommand } from '../../src/cli/tail.ts';
import { type Document, documentOf, ROOT, readDocuments, section } from './documents.ts';

const DOCUMENTS = readDocuments();
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { scripts: Record<string, string> };
const HUB_COMMANDS = [
  demoCommand(),
  doctorCommand(),
  eraseCommand(),
  replayCommand(),
  tailCommand(),
  rpcCommand(),
  searchCommand(),
  sinksCommand(),
  auditCommand(),
  sourcesCommand(),
  keysCommand(),
  supportBundleCommand(),
  ...dataCommands(),
].map((command) => command.name());
/** Placeholder for any profile. */
const ANY = 'COMMAND';

/** Commands of a document: lines of its blocks, with continuations joined, and commands in its prose. */
function commandsOf({ blocks, words }: Document): string[] {
  const lines = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.replaceAll('\\\n', ' ').split('\n'));
  return [...lines, ...words].filter((line) => /\b(npm|node|node_modules\/\.bin\/\w+) /.test(line));
}

/** Missing parts of a command: npm scripts, files that Node runs, profiles, commands of the hub. */
function missingIn(command: string): string[] {
  const missing: string[] = [];
  for (const [, script = ''] of command.matchAll(/\bnpm run (?:--silent )?([\w:]+)/g)) {
    if (!(script in scripts)) missing.push(`script ${script}`);
  }
  for (const [, script = ''] of command.matchAll(/\bnpm (start|test)\b/g)) {
    if (!(script in scripts)) missing.push(`script ${script}`);
  }
  for (const [, path = ''] of command.matchAll(/(?:^|\s)((?:src|test|bench|node_modules)\/[\w./-]*\w)/g)) {
    if (!existsSync(ROOT + path)) missing.push(`file ${path}`);
  }
  for (const [, profile = ''] of command.matchAll(/\bnpm run bench -- .*--profile (\w+)/g)) {
    if (!PROFILES.some(({ name }) => name === profile)) missing.push(`profile ${profile}`);
  }
  for (const [, name = ''] of command.matchAll(/\bnpm run hub -- ([\w-]+)/g)) {
    if (name !== ANY && !HUB_COMMANDS.includes(name)) missing.push(`command ${name}`);
  }
  return missing;
}

test('Every command of a document names scripts and files that exist', () => {
  const commands = DOCUMENTS.flatMap((document) =>
    commandsOf(document).map((command) => ({ path: document.path, command })),
  );
  assert.ok(commands.length > 40, `only ${commands.length} commands were found`);
  assert.deepEqual(
    commands.flatMap(({ path, command }) => missingIn(command).map((what) => `${path}: there is no ${what}`)),
    [],
  );
});

test('docs/data.md describes every command for the database', () => {
  const data = DOCUMENTS.find(({ path }) => path === 'docs/data.md');
  assert.ok(data);
  const documented = [...section(data, 'Commands').matchAll(/^\| `(\w+)(?: [^`]+)?` \|/gm)].map(([, name]) => name);
  assert.deepEqual(
    [...new Set(documented)].toSorted(),
    dataCommands()
      .map((command) => command.name())
      .toSorted(),
  );
});

test('missingIn finds missing parts only', () => {
  for (const command of commandsOf(documentOf('a.md', '```sh\nnpm run none\nnpm run bench -- --profile no\n```\n'))) {
    assert.equal(missingIn(command).length, 1, command);
  }
  assert.deepEqual(missingIn('node --test test/none.test.ts'), ['file test/none.test.ts']);
  assert.deepEqual(missingIn('npm run hub -- destroy'), ['command destroy']);
  assert.deepEqual(missingIn('HUB_PORT=9000 npm start && npm run --silent sbom > sbom.json'), []);
});

test('README.md starts with the commands that start and test', () => {
  const readme = DOCUMENTS.find(({ path }) => path === 'README.md');
  assert.ok(readme);
  assert.match(section(readme, 'Start'), /```sh\nnpm start\nnpm test\n```/);
});
