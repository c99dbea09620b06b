import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ClusterHistory } from '../../src/history/queries/cluster_history.ts';

test('A start removes rows of other hubs that a crash has left, and no files of the hub itself', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'hub-history-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, '.shared'));
  for (const name of ['.shared/other-1.parquet', 'own.parquet']) writeFileSync(join(folder, name), '');
  const unused = () => assert.fail('it queries nothing');
  new ClusterHistory({
    ...{ folder, timeoutMs: 1, pool: { ask: unused }, schedule: unused, now: unused, askOthers: unused },
  });
  assert.deepEqual([existsSync(join(folder, '.shared')), existsSync(join(folder, 'own.parquet'))], [false, true]);
});
