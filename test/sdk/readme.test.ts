import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { run, runInstall } from '../clients/generators/tools.ts';
import { documentOf } from '../documents/documents.ts';
import { SDK } from './sdk_document.ts';

const COMPILER = new URL('../../node_modules/typescript/bin/tsc', import.meta.url).pathname;
const STRICT = '--noEmit --strict --skipLibCheck --target es2024 --module nodenext --lib es2024,dom --types node'.split(
  ' ',
);
const NPM = ['install', '--no-audit', '--no-fund', '--fetch-retries=1'];

describe('The README of the TypeScript SDK', () => {
  let folder: string;
  let hub: TestHub;
  let skip: string | undefined;
  const tokens = createServer((_request, response) => response.end('{"access_token":"any","expires_in":60}'));
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sdk-'));
    hub = await openTestHub();
    await new Promise<void>((resolve) => tokens.listen(0, '127.0.0.1', resolve));
    const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: `${SDK}typescript` });
    const [archive = ''] = packed.trim().split('\n').slice(-1);
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    try {
      await runInstall('npm', [...NPM, `./${archive}`, '@types/node@22.20.5'], { cwd: folder });
    } catch (error) {
      skip = `the dependencies cannot be installed: ${(error as Error).message.split('\n').at(-1)}`;
    }
  });
  after(async () => {
    tokens.close();
    await hub.close();
    await rm(folder, { recursive: true, force: true });
    await rm(`${SDK}typescript/dist`, { recursive: true, force: true });
  });

  test('has programs that work with the packed package in a fresh folder', async (t) => {
    if (skip !== undefined) return t.skip(skip);
    const readme = documentOf('README.md', await readFile(`${SDK}typescript/README.md`, 'utf8'));
    const programs = readme.blocks.filter(({ language }) => language === 'ts');
    const { port } = tokens.address() as AddressInfo;
    const printed: string[] = [];
    for (const [i, { text }] of programs.entries()) {
      const program = text.replaceAll('http://127.0.0.1:8081', hub.origin).replaceAll(':9080', `:${port}`);
      await writeFile(join(folder, `${i}.ts`), program);
      printed.push(await run(process.execPath, ['--disable-warning=ExperimentalWarning', `${i}.ts`], { cwd: folder }));
    }
    const expected = [/^[\w-]{36}\n$/, /^accepted\n$/, /provider_id: 'tag-1'/, /eventLog: true/];
    assert.equal(printed.length, expected.length);
    for (const [i, pattern] of expected.entries()) assert.match(printed[i] ?? '', pattern);
    const files = programs.map((_, i) => `${i}.ts`);
    assert.equal(await run(process.execPath, [COMPILER, ...STRICT, ...files], { cwd: folder }), '');
  });
});
