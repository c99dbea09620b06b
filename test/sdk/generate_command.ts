import { readFile, writeFile } from 'node:fs/promises';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { generators } from './generators.ts';
import { SDK } from './sdk_document.ts';

// `npm run generate:sdk`: makes the generated files of the SDKs again, with generators that it downloads.
const folder = temporaryFolder();
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
