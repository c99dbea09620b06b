import assert from 'node:assert/strict';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { GO } from '../../bench/process/go.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { installed, run, runInstall } from './generators/tools.ts';
import { assertSeen, openWorkshop, type Workshop } from './generators/walk.ts';

const GENERATOR = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const MODULE = 'module walk\n\ngo 1.24\n\nrequire github.com/oapi-codegen/runtime v1.8.0\n';
const SOURCES = new URL('generators/go/', import.meta.url);

const ENV = { GOFLAGS: '-mod=mod -buildvcs=false', GOTOOLCHAIN: 'local', GOWORK: 'off' };

const tool =
  GO === undefined
    ? { folder: '', skip: 'go is not installed' }
    : await installed('oapi-codegen-2.8.2', install, { eachTime: true });

/** The generator, and the runtime of its clients. */
async function install(cwd: string): Promise<void> {
  const go = GO ?? 'go';
  await runInstall(go, ['install', GENERATOR], { cwd, env: { ...ENV, GOBIN: cwd } });
  await writeFile(join(cwd, 'go.mod'), MODULE);
  await runInstall(go, ['get', 'github.com/oapi-codegen/runtime/types'], { cwd, env: ENV });
}

describe('the client that oapi-codegen makes', { skip: tool.skip }, () => {
  const go = GO ?? 'go';
  let hub: TestHub;
  let workshop: Workshop;
  before(async () => {
    hub = await openTestHub();
    workshop = await openWorkshop(hub);
  });
  after(async () => {
    await workshop.close();
    await hub.close();
  });

  for (const document of ['v2/openapi-3.0.json', 'v1/openapi-3.0.json', 'v2/openapi.json'] as const) {
    it(`of ${document} compiles without a warning`, async () => {
      const { cwd, printed } = await generate(document);
      assert.equal(printed, '');
      await run(go, ['build', './hub'], { cwd, env: ENV });
    });
  }

  it('speaks with the hub', async () => {
    const { cwd } = await generate('v2/openapi-3.0.json');
    await cp(new URL('main.go', SOURCES), join(cwd, 'main.go'));
    await run(go, ['vet', './...'], { cwd, env: ENV });
    assertSeen(await run(go, ['run', '.', hub.base], { cwd, env: ENV }));
  });

  async function generate(document: Parameters<Workshop['document']>[0]) {
    const cwd = join(workshop.folder, `go-${document.replaceAll(/[^\w]/g, '-')}`);
    await mkdir(join(cwd, 'hub'), { recursive: true });
    for (const name of ['go.mod', 'go.sum']) await cp(join(tool.folder, name), join(cwd, name));
    const options = ['-package', 'hub', '-generate', 'types,client,skip-prune', '-o', 'hub/hub.gen.go'];
    const printed = await run(join(tool.folder, 'oapi-codegen'), [...options, workshop.document(document)], { cwd });
    return { cwd, printed };
  }
});
