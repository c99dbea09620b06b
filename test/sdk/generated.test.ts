import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bannerOf, GENERATED, SDK, sdkDocument } from './sdk_document.ts';

for (const path of GENERATED) {
  test(`sdk/${path} is generated from the current OpenAPI document`, async () => {
    const [first = ''] = readFileSync(SDK + path, 'utf8').split('\n');
    assert.equal(first.replace(/^(\/\/|#) /, ''), bannerOf(await sdkDocument()), 'npm run generate:sdk updates it');
  });
}
