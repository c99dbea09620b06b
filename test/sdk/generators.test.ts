import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { generators } from './generators.ts';
import { SDK } from './sdk_document.ts';

for (const { path, skip, generate } of await generators()) {
  test(`npm run generate:sdk makes sdk/${path} as it is`, { skip }, async () => {
    const folder = temporaryFolder();
    assert.ok((await generate(folder)) === readFileSync(SDK + path, 'utf8'), 'npm run generate:sdk updates it');
  });
}
