import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generators } from './generators.ts';
import { SDK } from './sdk_document.ts';

// `npm run generate:sdk`: makes the generated files of the SDKs again, with generators that it downloads.
const folder = mkdtempSync(join(tmpdir(), 'sdk-'));
for (const { path, skip, generate } of await generators()) {
  if (skip !== false) {
    process.exitCode = 1;
    console.error(`sdk/${path} is unchanged: ${skip}`);
    continue;
  }
  const text = await generate(folder);
  const before = await readFile(SDK + path, 'utf8').catch(() => '');
  if (text === before) continue;
  await writeFile(SDK + path, text);
  console.log(`sdk/${path} is written`);
}
rmSync(folder, { recursive: true });
