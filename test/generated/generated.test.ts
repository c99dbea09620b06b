import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { currentText, generatedFiles } from './generated.ts';

const FILES = generatedFiles();

for (const { path, text } of FILES) {
  const skip = text === undefined && 'its source is missing';
  test(`${path} is up to date`, { skip }, () => {
    assert.equal(currentText(path), text, 'npm run generate updates it');
  });
}

test('Generated files state at the top how they are generated', () => {
  const recorded = ['test/provenance/binaries.sha256', 'test/core/recorded/events.json'];
  for (const path of [...FILES.map(({ path }) => path), ...recorded]) {
    const top = currentText(path).split('\n').slice(0, 5).join('\n');
    assert.match(top, /npm run (generate|bench|record:\w+)/, path);
  }
});

test('Every plot is created by the report', () => {
  const made = FILES.map(({ path }) => path).filter((path) => path.startsWith('bench/plots/'));
  const found = readdirSync(new URL('../../bench/plots', import.meta.url)).map((name) => `bench/plots/${name}`);
  assert.deepEqual(found.toSorted(), made.toSorted());
});
