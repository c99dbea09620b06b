import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ticksOf } from '../../bench/process/proc.ts';
import { judge } from '../../bench/report/judge.ts';
import { markdownOf, measuredOn } from '../../bench/report/markdown.ts';
import { plotsOf } from '../../bench/report/plots.ts';
import type { Result } from '../../bench/report/result.ts';
import { flat, shortened, tableOf } from '../../bench/report/table.ts';

const BATCH: Result = {
  profile: 'batch',
  command: 'npm run bench -- --profile batch',
  offered_per_s: 300_000,
  accepted_per_s: 300_000,
  seen_per_s: 249_999,
  lost: 0,
  event_p50_ms: 2.9996,
  event_p99_ms: 10,
  bare_per_s: 250_000,
  ratio_to_bare: 0.4,
  more: { refused_per_s: 0 },
};
const MACHINE = { cores: 2, cpu: 'a processor', memoryGb: 8, node: '22.0.0', platform: 'linux' };

test('flat returns one rounded object with the members that every profile has', () => {
  assert.deepEqual(flat(BATCH), {
    profile: 'batch',
    offered_per_s: 300_000,
    accepted_per_s: 300_000,
    seen_per_s: 249_999,
    lost: 0,
    event_p50_ms: 3,
    event_p99_ms: 10,
    bare_per_s: 250_000,
    ratio_to_bare: 0.4,
    refused_per_s: 0,
  });
  assert.deepEqual([shortened(0.0123456), shortened(99.96), shortened(12_345.6)], [0.0123, 100, 12_346]);
  assert.match(tableOf(BATCH), /^accepted_per_s +300,000$/m);
});

test('judge compares the exact values, not the displayed ones, with the targets', () => {
  const verdicts = Object.fromEntries(judge(BATCH, [BATCH]).map(({ wanted, isMet }) => [wanted, isMet]));
  assert.deepEqual(verdicts, {
    'ratio_to_bare at least 0.33': true,
    'through_per_s at least 250,000': false,
    'event_p50_ms under 3 at half of the maximum': true,
    'event_p99_ms under 10 at half of the maximum': false,
    'exit_event_p50_ms at most 5 at half of the maximum': false,
    'lost 0': true,
  });
  const ws = { ...BATCH, profile: 'ws', seen_per_s: 99_998 };
  assert.deepEqual(
    judge(ws, [BATCH, ws]).map(({ isMet }) => isMet),
    [false, true],
  );
  const lossy = { ...BATCH, profile: 'collisions', lost: 1 };
  assert.deepEqual(judge(lossy, [lossy]), [{ profile: 'collisions', wanted: 'lost 0', found: 'lost 1', isMet: false }]);
  const nothing: Result = { profile: 'restart', command: '', more: {} };
  assert.deepEqual(
    judge(nothing, []).map(({ isMet }) => isMet),
    [false],
    'an unmeasured value meets no target',
  );
});

test('The report has each number with its command, and the targets', () => {
  const series = [{ name: 'fences', x: 'fences', y: 'µs', points: [[100, 7] as const, [100_000, 8] as const] }];
  const growth: Result = { profile: 'growth', command: 'npm run bench -- --profile growth', more: {}, series };
  const results = [BATCH, growth];
  const plots = plotsOf(results);
  assert.deepEqual(
    plots.map(({ file }) => file),
    ['throughput.svg', 'latency.svg', 'growth_fences.svg'],
  );
  for (const { svg } of plots) {
    assert.match(svg, /^<svg xmlns/);
    assert.doesNotMatch(svg, /NaN|undefined|Infinity/);
  }
  const text = markdownOf({
    results,
    measured: measuredOn(MACHINE),
    plots,
    projection: 'Twice as much.\n',
    hubs: 'Computed.\n',
    designs: 'One that lost.\n',
    missed: 'What it consists of.\n',
  });
  assert.match(text, /\| batch \| ratio_to_bare at least 0\.33 \| ratio_to_bare 0\.4 \| met \|/);
  assert.match(text, /through_per_s 249,999 \| \*\*missed\*\*/);
  assert.match(text, /### growth\n\n`npm run bench -- --profile growth`/);
  assert.match(text, /!\[.*\]\(plots\/growth_fences\.svg\)/);
  assert.match(text, /^Measured on 2 cores \(a processor\), 8 GB/m);
  assert.match(text, /## Rejected designs\n\nOne that lost\.\n/);
});

test('ticksOf reads user and system time for any program name', () => {
  const times = '7 8 0 0';
  assert.equal(ticksOf(`12 (a) b) c) S 1 2 3 4 5 6 7 8 9 10 ${times} 20 0 1`), 15);
});
