import assert from 'node:assert/strict';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { run, runInstall } from '../clients/generators/tools.ts';
import { documentOf } from '../documents/documents.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { SDK } from './sdk_document.ts';

const MODULES = new URL('../../node_modules/', import.meta.url).pathname;
const COMPILER = `${MODULES}typescript/bin/tsc`;
const STRICT = '--noEmit --strict --skipLibCheck --target es2024 --module nodenext --lib es2024,dom --types node'.split(
  ' ',
);

/** A line that each program prints, in the order of the READMEs. */
const FENCE_ID = /^[\w-]{36}\n$/;
const ACCEPTED = /^accepted\n$/;

describe('The README', () => {
  let folder: string;
  let hub: TestHub;
  const tokens = createServer((_request, response) => response.end('{"access_token":"any","expires_in":60}'));
  before(async () => {
    folder = temporaryFolder();
    hub = await openTestHub({ history: true });
    await new Promise<void>((resolve) => tokens.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    tokens.close();
    await hub.close();
  });

  test('of the TypeScript SDK has programs that work with the packed package in a fresh folder', async (t) => {
    const source = join(folder, 'typescript');
    await cp(`${SDK}typescript`, source, { recursive: true });
    await symlink(MODULES, join(source, 'node_modules'));
    const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: source });
    const [archive = ''] = packed.trim().split('\n').slice(-1);
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    const install = ['install', '--no-audit', '--no-fund', '--fetch-retries=1', `./${archive}`, '@types/node@22.20.5'];
    if (await isMissing(t, () => runInstall('npm', install, { cwd: folder }))) return;
    const programs = await programsOf('typescript/README.md', 'ts');
    const printed = [];
    for (const [i, text] of programs.entries()) {
      await writeFile(join(folder, `${i}.ts`), text);
      printed.push(await run(process.execPath, ['--disable-warning=ExperimentalWarning', `${i}.ts`], { cwd: folder }));
    }
    assertPrinted(printed, [FENCE_ID, ACCEPTED, /provider_id: 'tag-1'/, /eventLog: true/]);
    const files = programs.map((_, i) => `${i}.ts`);
    assert.equal(await run(process.execPath, [COMPILER, ...STRICT, ...files], { cwd: folder }), '');
  });

  test('of the Python SDK has programs that work with the wheel in a fresh environment', async (t) => {
    const source = join(folder, 'python');
    await cp(`${SDK}python`, source, { recursive: true });
    const python = join(folder, 'environment/bin/python');
    const wheel = 'omlox_location_hub_client-*.whl';
    const steps: readonly (readonly [program: string, ...args: string[]])[] = [
      ['python3', '-m', 'venv', 'environment'],
      [python, '-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', '.', source],
      ['sh', '-c', `exec ${python} -m pip install --quiet "$(echo ${wheel})[pandas,geo]"`],
    ];
    const install = async () => {
      for (const [program, ...args] of steps) await runInstall(program, args, { cwd: folder });
    };
    if (await isMissing(t, install)) return;
    const printed = [];
    for (const [i, text] of (await programsOf('python/README.md', 'python')).entries()) {
      if (text.includes('hub.history')) await recorded();
      await writeFile(join(folder, `${i}.py`), text);
      printed.push(await run(python, [`${i}.py`], { cwd: folder }));
    }
    const history = /history=True[\s\S]*longitude +latitude[\s\S]* 8\.6821 +50\.1109[\s\S]*EPSG:4326/;
    assertPrinted(printed, [FENCE_ID, ACCEPTED, /'provider_id': 'tag-1'/, history, /event_log=True/]);
  });

  /** Programs of a README, with the addresses of the test. */
  async function programsOf(path: string, language: string): Promise<string[]> {
    const { blocks } = documentOf(path, await readFile(SDK + path, 'utf8'));
    const { port } = tokens.address() as AddressInfo;
    return blocks
      .filter((block) => block.language === language)
      .map(({ text }) => text.replaceAll('http://127.0.0.1:8081', hub.origin).replaceAll(':9080', `:${port}`));
  }

  /** Resolves when the hub has recorded the position. */
  async function recorded(): Promise<void> {
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    for (;;) {
      const { status, text, body } = await hub.get(
        `/providers/tag-1/history?from=${hourAgo}&to=${new Date().toISOString()}`,
      );
      assert.equal(status, 200, text);
      if (body.points.length > 0) return;
    }
  }
});

function assertPrinted(printed: readonly string[], expected: readonly RegExp[]): void {
  assert.equal(printed.length, expected.length);
  for (const [i, pattern] of expected.entries()) assert.match(printed[i] ?? '', pattern);
}

/** Skips the test if packages cannot be installed. */
async function isMissing(t: TestContext, install: () => Promise<unknown>): Promise<boolean> {
  try {
    await install();
    return false;
  } catch (error) {
    t.skip(`packages cannot be installed: ${(error as Error).message.split('\n').at(-1)}`);
    return true;
  }
}
