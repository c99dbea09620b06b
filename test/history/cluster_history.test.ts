import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ClusterHistory } from '../../src/history/queries/cluster_history.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

test('A start removes rows of other hubs that a crash has left, and no files of the hub itself', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, '.shared'));
  for (const name of ['.shared/other-1.parquet', 'own.parquet']) writeFileSync(join(folder, name), '');
  const unused = () => assert.fail('it queries nothing');
  new ClusterHistory({
    ...{ folder, timeoutMs: 1, pool: { ask: unused }, schedule: unused, now: unused, askOthers: unused },
  });
  assert.deepEqual([existsSync(join(folder, '.shared')), existsSync(join(folder, 'own.parquet'))], [false, true]);
});
