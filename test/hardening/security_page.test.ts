import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const ROOT = new URL('../../', import.meta.url);
const PAGE = readFileSync(new URL('SECURITY.md', ROOT), 'utf8');

/** Rows of the table as cells. */
const ROWS = PAGE.split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| threat'))
  .map((line) => line.slice(2, -2).split(' | '));

/** Quoted test files with their test names: `file` "name", "name"; `file` "name" */
function shownBy(cell: string): (readonly [file: string, names: readonly string[]])[] {
  return [...cell.matchAll(/`([^`]+)`([^`]*)/g)].map(([, file = '', names = '']) => {
    return [file, [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name)] as const;
  });
}

test('SECURITY.md names a measure and a test for each threat', () => {
  assert.ok(ROWS.length > 20, `only ${ROWS.length} rows were found`);
  for (const cells of ROWS) {
    assert.equal(cells.length, 3, cells.join(' | '));
    assert.ok(shownBy(cells[2] ?? '').length > 0, cells[0]);
  }
});

for (const [threat = '', , tests = ''] of ROWS) {
  test(`The tests for "${threat}" exist`, () => {
    for (const [file, names] of shownBy(tests)) {
      assert.ok(/^test\/.+\.test\.ts$/.test(file) && existsSync(new URL(file, ROOT)), `there is no ${file}`);
      assert.ok(names.length > 0, `${file} is named without a test`);
      const text = readFileSync(new URL(file, ROOT), 'utf8');
      for (const name of names) assert.ok(text.includes(name), `${file} has no test called "${name}"`);
    }
  });
}
