import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { natsProgram } from '../../bench/process/nats_program.ts';
import { randomFrom } from '../durability/hub_process.ts';
import { openClusteredHubs } from './killed_hubs.ts';
import { runSdkRounds } from './sdk_rounds.ts';
import { startTypeScript } from './sdk_run.ts';

const program = await natsProgram();
const skip = 'missing' in program ? `no nats-server: ${program.missing}` : false;

test('The picture of the TypeScript SDK is that of a cluster after kills, and no event is missed or repeated', {
  skip,
}, async () => {
  if ('missing' in program) return;
  const hubs = await openClusteredHubs({ hubs: 2, program: program.path, random: randomFrom(3), atEnd: after });
  const findings = await runSdkRounds({ hubs, start: startTypeScript, seed: 3, everyMs: 3000, kills: 2, atEnd: after });
  assert.deepEqual(findings.problems, []);
  assert.ok(findings.events > 100, `only ${findings.events} events`);
});
