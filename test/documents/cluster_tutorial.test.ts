import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../../bench/process/free_port.ts';
import { natsProgram } from '../../bench/process/nats_program.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { documentOf, ROOT } from './documents.ts';
import { pasted, whyNotPasted } from './pasted.ts';

const PATH = 'docs/tutorials/cluster.md';
const program = await natsProgram();
const skip = 'missing' in program ? `no nats-server: ${program.missing}` : whyNotPasted(['bash', 'curl', 'lsof']);

test('The tutorial of a cluster ends with the location of a killed hub at another one', { skip }, async () => {
  assert.ok('path' in program);
  const folder = temporaryFolder();
  const ports = [4222, 8081, 8082, 8083].map(async (port) => [`127.0.0.1:${port}`, `127.0.0.1:${await freePort()}`]);
  const replaced = Object.fromEntries(await Promise.all(ports)) as Record<string, string>;
  for (const [from = '', to = ''] of Object.entries(replaced)) {
    const [port, free] = [from, to].map((address) => address.split(':')[1]);
    replaced[`HUB_PORT=${port}`] = `HUB_PORT=${free}`;
    replaced[`tcp:${port}`] = `tcp:${free}`;
  }
  const path = [dirname(program.path), process.env['PATH'] ?? ''].join(delimiter);
  const out = await pasted(documentOf(PATH, readFileSync(ROOT + PATH, 'utf8')), {
    replaced: { ...replaced, '.hub-tutorial': folder },
    env: { PATH: path, HUB_SEVERITY_LEVEL: 'Info' },
    without: [],
  });
  assert.equal(out.match(/"coordinates":\[8\.6825,50\.111\]/g)?.length, 2, out);
});
