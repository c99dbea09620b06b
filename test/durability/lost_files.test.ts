import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { chmodSync, linkSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runCliIn } from '../cli/run_cli.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { HubProcess, locationOf } from './hub_process.ts';

const ONE_LINE = /^Cannot use the database .*: npm run hub -- restore FILE .*, npm start -- --accept-loss .*\n$/;

/** A hub with some trackables, each of which was acknowledged. */
async function hubWith(folder: string, count: number): Promise<{ hub: HubProcess; ids: readonly string[] }> {
  const hub = await HubProcess.start(folder);
  const ids = Array.from({ length: count }, () => randomUUID());
  for (const id of ids) {
    assert.equal((await hub.post('/trackables', { id, type: 'omlox', name: `Name of ${id}` }))?.status, 201);
    await hub.put('/providers/locations', [locationOf(`tag ${id}`, 1)]);
  }
  return { hub, ids };
}

async function refusal(folder: string): Promise<string> {
  const { code, stdout, stderr } = await new HubProcess(folder).ended;
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, ONE_LINE);
  return stderr;
}

test('A hub whose log was removed after a crash does not start, and continues with --accept-loss', async () => {
  const folder = temporaryFolder();
  const { hub, ids } = await hubWith(folder, 5);
  await hub.crash();
  rmSync(join(folder, 'data.dat-wal'));
  for (const _ of [1, 2]) {
    assert.match(
      await refusal(folder),
      /the last \d+ of \d+ commits are lost, for its log \S+data\.dat-wal is missing: /,
    );
  }
  const { code, out, err } = await runCliIn(folder, 'check');
  assert.equal(code, 1, err);
  assert.match(out, /^Problem: the last \d+ of \d+ commits are lost/m);
  const again = new HubProcess(folder, {}, after, { args: ['--accept-loss'] });
  await again.listening();
  assert.match(again.log, /"msg":"Going on without what is lost: the last \d+ of \d+ commits/);
  const { body: left } = (await again.get('/trackables')) ?? assert.fail('the hub has exited');
  assert.ok(left.length < ids.length);
  await again.crash();
  const third = await HubProcess.start(folder);
  assert.equal(third.log, '');
  await third.stop();
});

test('restore undoes the loss, and the hub starts without a message', async () => {
  const folder = temporaryFolder();
  const { hub, ids } = await hubWith(folder, 3);
  const backup = join(temporaryFolder(), 'copy');
  assert.equal((await runCliIn(folder, 'backup', backup)).code, 0);
  assert.equal((await hub.post('/trackables', { type: 'omlox' }))?.status, 201);
  await hub.crash();
  rmSync(join(folder, 'data.dat-wal'));
  await refusal(folder);
  assert.equal((await runCliIn(folder, 'restore', backup)).code, 0);
  const again = await HubProcess.start(folder);
  assert.equal(again.log, '');
  assert.deepEqual(new Set((await again.get('/trackables'))?.body), new Set(ids));
  await again.stop();
});

test('A hub does not serve an entity that has changed in its file; check and export name it', async () => {
  const folder = temporaryFolder();
  const { hub, ids } = await hubWith(folder, 3);
  await hub.stop();
  const [bad = '', ...good] = ids;
  const bytes = readFileSync(join(folder, 'data.dat'));
  const place = bytes.indexOf(`Name of ${bad}`);
  bytes[place] = (bytes[place] ?? 0) ^ 2;
  writeFileSync(join(folder, 'data.dat'), bytes);
  assert.match(await refusal(folder), new RegExp(`1 damaged row, trackable "${bad}" \\(entity\\): npm`));
  const checked = await runCliIn(folder, 'check');
  assert.match(
    checked.out,
    new RegExp(`^Problem: trackable "${bad}" \\(entity\\) has changed since it was written$`, 'm'),
  );
  assert.equal(checked.code, 1);
  const exported = await runCliIn(folder, 'export', join(temporaryFolder(), 'all.json'));
  assert.match(exported.err, new RegExp(`trackable "${bad}" is damaged\n$`));
  const again = await HubProcess.start(folder, { accept_loss: true });
  assert.match(again.log, new RegExp(`"msg":"1 damaged row, trackable \\\\"${bad}\\\\" \\(entity\\): left out"`));
  assert.deepEqual(new Set((await again.get('/trackables'))?.body), new Set(good));
  await again.stop();
  const third = await HubProcess.start(folder);
  assert.equal(third.log, '');
  assert.equal((await runCliIn(folder, 'check')).code, 0);
  await third.stop();
});

test('A second hub does not start on the file of the first, through any link, even with its lock removed', async () => {
  const folder = temporaryFolder();
  const { hub, ids } = await hubWith(folder, 2);
  const [hard, soft] = [temporaryFolder(), temporaryFolder()];
  linkSync(join(folder, 'data.dat'), join(hard, 'data.dat'));
  symlinkSync(join(folder, 'data.dat'), join(soft, 'data.dat'));
  rmSync(join(folder, 'data.dat.lock'));
  for (const place of [folder, hard, soft]) {
    const { code, stderr } = await new HubProcess(place, { accept_loss: true }).ended;
    assert.equal(code, 1);
    assert.match(stderr, /^Cannot use the database \S+data\.dat: another hub is using it(, or another program)?\n$/);
  }
  assert.deepEqual(new Set((await hub.get('/trackables'))?.body), new Set(ids));
  await hub.stop();
  const again = await HubProcess.start(folder);
  assert.deepEqual(new Set((await again.get('/trackables'))?.body), new Set(ids));
  await again.stop();
});

test('A hub logs one line if others could read its files', async () => {
  const folder = temporaryFolder();
  await (await HubProcess.start(folder)).stop();
  const path = join(folder, 'data.dat');
  chmodSync(path, 0o644);
  const hub = await HubProcess.start(folder);
  const said = hub.log
    .split('\n')
    .filter((line) => /Others could use data\.dat \(644\).*: now the owner alone can/.test(line));
  assert.deepEqual([said.length, statSync(path).mode & 0o777], [1, 0o600]);
  await hub.stop();
});
