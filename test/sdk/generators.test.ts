import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { generators } from './generators.ts';
import { SDK } from './sdk_document.ts';

for (const { path, skip, generate } of await generators()) {
  test(`npm run generate:sdk makes sdk/${path} as it is`, { skip }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'sdk-'));
    t.after(() => rmSync(folder, { recursive: true }));
    assert.ok((await generate(folder)) === readFileSync(SDK + path, 'utf8'), 'npm run generate:sdk updates it');
  });
}
