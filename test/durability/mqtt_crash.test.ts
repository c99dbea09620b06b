import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyNo } from '../mqtt/brokers.ts';
import { mqttReport } from './mqtt/mqtt_report.ts';
import { runMqttRounds } from './mqtt/mqtt_rounds.ts';

const skip = (await whyNo('mosquitto')) ?? false;

test('After a crash, a hub has everything that it acknowledged to a broker, and everything else arrives', {
  skip,
}, async () => {
  const findings = await runMqttRounds({ rounds: 2, seed: 3 });
  const report = mqttReport(findings, 'seed 3');
  assert.deepEqual(findings.problems, [], report);
  for (const { sent, acknowledged } of findings.rounds) assert.ok(sent > 100 && acknowledged >= sent, report);
  // The hub was killed with messages in flight.
  assert.ok(
    findings.rounds.some(({ redelivered }) => redelivered > 0),
    report,
  );
});
