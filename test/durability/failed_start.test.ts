import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { HubProcess } from './hub_process.ts';

const FAILED_OPEN = new URL('./failed_open.ts', import.meta.url).pathname;

const taken = createServer();
await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
const { port } = taken.address() as AddressInfo;
const folder = temporaryFolder();
const hub = await HubProcess.start(folder);

after(async () => {
  taken.close();
  await hub.crash();
});

/** Error, settings that cause it, and expected text of the one line. */
const FAILURES: readonly { what: string; folder: () => string; settings: () => object; says: () => string }[] = [
  {
    what: 'another hub has the database',
    folder: () => folder,
    settings: () => ({}),
    says: () => `Cannot use the database ${join(folder, 'data.dat')}: another hub is using it`,
  },
  {
    what: 'the port is in use',
    folder: temporaryFolder,
    settings: () => ({ port }),
    says: () => `Cannot listen on 127.0.0.1:${port}: the port is in use by another process`,
  },
];

for (const { what, folder: place, settings, says } of FAILURES) {
  test(`The program writes one plain line and exits with 1 when ${what}`, async () => {
    const { code, stdout, stderr } = await new HubProcess(place(), { ...settings() }).ended;
    assert.deepEqual([code, stdout, stderr], [1, '', `${says()}\n`]);
  });

  test(`openHub rejects and leaves nothing running when ${what}`, () => {
    const env: Record<string, string> = { HUB_CONFIG_PATH: place(), HUB_PORT: '0', HUB_NUM_THREADS: '1' };
    for (const [name, value] of Object.entries(settings())) env[`HUB_${name.toUpperCase()}`] = String(value);
    const { status, stdout } = spawnSync(process.execPath, [FAILED_OPEN], {
      env: { ...process.env, ...env },
      timeout: 60_000,
      encoding: 'utf8',
    });
    assert.deepEqual([status, stdout], [0, `StartupError: ${says()}\n`]);
  });
}
