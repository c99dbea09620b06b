import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { AREAS } from './areas.ts';
import { ROOT } from './source_file.ts';

/** Cells of the table rows below a heading, up to the next heading. */
function rowsBelow(document: string, heading: string): string[][] {
  const [, after = ''] = readFileSync(ROOT + document, 'utf8').split(`\n## ${heading}\n`);
  const rows = (after.split('\n## ', 1)[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(1).map((row) => row.slice(2, -2).split(' | '));
}

const namesIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
const isFolder = (path: string): boolean => !path.includes('.');
const withoutSource = (path: string): string => path.replace(/^src\//, '');

/** Rooms of the table in ARCHITECTURE.md, with the rooms that each may import. */
const DOCUMENTED = new Map(
  rowsBelow('src/ARCHITECTURE.md', 'Rooms').map(([room = '', , imports = '']) => [
    namesIn(room).join(),
    namesIn(imports).toSorted(),
  ]),
);

/** The rooms outside of it that areas.ts permits a room or its folders to import, without single files. */
function permitted(room: string): string[] {
  const own = AREAS.filter(({ path }) => withoutSource(path) === room);
  const areas = own.length > 0 ? own : AREAS.filter(({ path }) => withoutSource(path).startsWith(`${room}/`));
  assert.ok(areas.length > 0, `areas.ts has no ${room}`);
  const imports = areas.flatMap(({ mayImport }) => mayImport.filter(isFolder).map(withoutSource));
  return [...new Set(imports)].filter((path) => !path.startsWith(`${room}/`)).toSorted();
}

test('The rooms table of ARCHITECTURE.md permits the imports that areas.ts permits', () => {
  for (const [room, imports] of DOCUMENTED) assert.deepEqual(imports, permitted(room), room);
});

test('The rooms table of ARCHITECTURE.md has a row for each room', () => {
  const rooms = readdirSync(`${ROOT}src`).filter(isFolder).concat('workers', 'wasm');
  assert.ok(rooms.length > 20);
  assert.deepEqual(
    rooms.filter((room) => !DOCUMENTED.has(room)),
    [],
  );
});

test('The test map of CONTRIBUTING.md has each folder of test/ once', () => {
  const documented = rowsBelow('CONTRIBUTING.md', 'The map of tests').flatMap(([folders = '']) => namesIn(folders));
  assert.deepEqual(documented.filter(isFolder).toSorted(), readdirSync(`${ROOT}test`).filter(isFolder).toSorted());
});
