import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { GO } from '../../bench/process/go.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { installed, run, runInstall } from './generators/tools.ts';

/** Tests the public Go client through its command-line program. */
const MODULE = 'github.com/wavecomtech/omlox-client-go';
const PROGRAM = 'omlox-cli';

const tool =
  GO === undefined
    ? { folder: '', skip: 'go is not installed' }
    : await installed(PROGRAM, install, { eachTime: true });

async function install(cwd: string): Promise<void> {
  await runInstall(GO ?? 'go', ['install', `${MODULE}/cmd/${PROGRAM}@latest`], { cwd, env: { GOBIN: cwd } });
}

const CART = { id: '0b680db2-b39b-45be-be77-40d7d2296cb4', type: 'omlox', name: 'Cart', location_providers: ['tag'] };
const PROVIDER = { id: 'tag', type: 'uwb', name: 'Tag' };
const LOCATION = {
  position: { type: 'Point', coordinates: [9, 50] },
  source: 'hall',
  provider_type: 'uwb',
  provider_id: 'tag',
  crs: 'EPSG:4326',
};

describe('the public Go client and its command-line program', { skip: tool.skip }, () => {
  let hub: TestHub;
  let env: Readonly<Record<string, string>>;
  before(async () => {
    hub = await openTestHub();
    env = { OMLOX_HUB_API: `${hub.origin}/v2` };
  });
  after(() => hub.close());

  const cli = (...args: string[]) => run(join(tool.folder, PROGRAM), args, { cwd: tool.folder, env });

  async function file(name: string, value: unknown): Promise<string> {
    const path = join(tool.folder, name);
    await writeFile(path, JSON.stringify(value));
    return path;
  }

  test('creates trackables and providers, and lists them', async () => {
    assert.match(await cli('create', 'trackables', '-f', await file('trackable.json', CART)), /^created: /);
    assert.match(await cli('create', 'providers', '-f', await file('provider.json', PROVIDER)), /^created: /);
    const [listed] = JSON.parse(await cli('get', 'trackables', '-o', 'json'));
    assert.equal(listed.id, CART.id);
    assert.match(await cli('get', 'providers', '-o', 'json'), /"tag"/);
  });

  test('subscribes to location updates', async (t) => {
    const path = join(tool.folder, PROGRAM);
    const listener = spawn(path, ['subscribe', 'location_updates'], { env: { ...process.env, ...env } });
    t.after(() => listener.kill('SIGKILL'));
    const output = once(listener.stdout, 'data');
    // The program does not report when it has subscribed.
    const sending = setInterval(() => void hub.put('/providers/tag/location', LOCATION), 50);
    t.after(() => clearInterval(sending));
    assert.match(String(await output), /"provider_id":"tag"/);
  });
});
