import { cp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { installed, run, runInstall } from './generators/tools.ts';
import { assertSeen, DOCUMENTS, openWorkshop, type Workshop } from './generators/walk.ts';

/** The generator writes with the library of the compiler, which the project's own, TypeScript 7, does not have. */
const PACKAGES = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3', '@types/node@22.20.5'];
const NPM = ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1'];
const STRICT = (
  '--strict --noEmit --skipLibCheck --exactOptionalPropertyTypes --noUncheckedIndexedAccess ' +
  '--allowImportingTsExtensions --target es2022 --module nodenext --lib es2022,dom --types node'
).split(' ');
const COMPILER = new URL('../../node_modules/typescript/bin/tsc', import.meta.url).pathname;
const WALK = new URL('generators/typescript/walk.mts', import.meta.url);

const tool = await installed('openapi-typescript-7.13.0', async (folder) => {
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  await runInstall('npm', [...NPM, ...PACKAGES], { cwd: folder });
});

describe('the types that openapi-typescript makes', { skip: tool.skip }, () => {
  let hub: TestHub;
  let workshop: Workshop;
  before(async () => {
    hub = await openTestHub();
    workshop = await openWorkshop(hub);
    await symlink(join(tool.folder, 'node_modules'), join(workshop.folder, 'node_modules'));
  });
  after(async () => {
    await workshop.close();
    await hub.close();
  });

  const node = (args: readonly string[]) => run(process.execPath, args, { cwd: workshop.folder });
  const generate = (document: (typeof DOCUMENTS)[number], name: string) =>
    node(['node_modules/openapi-typescript/bin/cli.js', workshop.document(document), '--output', name]);
  const checkTypes = (names: readonly string[]) => node([COMPILER, ...STRICT, ...names]);

  it('are good, of every document', async () => {
    const names = DOCUMENTS.map((document) => `${document.replaceAll(/\W/g, '_')}.mts`);
    for (const [i, document] of DOCUMENTS.entries()) await generate(document, names[i] ?? '');
    await checkTypes(names);
  });

  for (const document of ['v2/openapi.json', 'v2/openapi-3.0.json'] as const) {
    it(`of ${document} are those that a program needs, which speaks with the hub`, async () => {
      for (const collection of ['/zones', '/fences', '/trackables']) await hub.delete(collection);
      await generate(document, 'hub.gen.mts');
      await cp(WALK, join(workshop.folder, 'walk.mts'));
      await checkTypes(['walk.mts']);
      assertSeen(await node(['walk.mts', hub.base]));
    });
  }
});
