import { writeFileSync } from 'node:fs';
import { currentText, generatedFiles } from './generated.ts';

// Writes every generated file anew that is stale, and says which.
for (const { path, text } of generatedFiles()) {
  if (text === undefined) console.log(`${path} is left: what it is made of is not here`);
  else if (text !== currentText(path)) {
    writeFileSync(new URL(`../../${path}`, import.meta.url), text);
    console.log(`${path} is written`);
  }
}
