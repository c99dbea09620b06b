import { writeFileSync } from 'node:fs';
import { currentText, generatedFiles } from './generated.ts';

// Rewrites every stale generated file, and prints its path.
for (const { path, text } of generatedFiles()) {
  if (text === undefined) console.log(`${path} is unchanged: its source is missing`);
  else if (text !== currentText(path)) {
    writeFileSync(new URL(`../../${path}`, import.meta.url), text);
    console.log(`${path} is written`);
  }
}
