import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { natsProgram } from '../../bench/process/nats_program.ts';
import { clusterReport } from './cluster/cluster_report.ts';
import { runClusterRounds } from './cluster/cluster_rounds.ts';
import type { FaultKind } from './cluster/faults.ts';

const FAULTS: readonly FaultKind[] = ['kill of a hub', 'stop of a hub', 'kill of a hub'];
const WORTH = [
  ['locations acknowledged', 30],
  ['reads right after a 204, at another hub', 5],
  ['changes of entities answered', 20],
  ['memberships checked', 20],
  ['of acknowledged moves, received by lasting connections', 20],
  ['location updates received by lasting connections', 50],
] as const;
const LATE_MS = 6000;

const program = await natsProgram();
const skip = 'missing' in program ? `no nats-server: ${program.missing}` : false;

test('When one of two hubs is killed or hangs, the other takes over: no acknowledged write is lost and no event is published twice', {
  skip,
}, async () => {
  if ('missing' in program) return;
  const findings = await runClusterRounds({
    ...{ hubs: 2, rounds: FAULTS.length, seed: 7, nats: 1, program: program.path, faults: FAULTS },
    atEnd: (callback) => after(callback),
  });
  const report = clusterReport(findings, 'seed 7');
  assert.deepEqual(findings.problems, [], report);
  for (const { tookMs } of findings.outages) assert.ok(tookMs < LATE_MS, report);
  // The rounds have exercised enough.
  for (const [what, least] of WORTH) assert.ok((findings.counts.get(what) ?? 0) > least, `${what}\n${report}`);
});
