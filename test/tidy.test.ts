import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder } from './support/temporary_folder.ts';
import { idleExceptions } from './tidy/fragments.ts';
import { brokenImports, readImports, roomCircles, violationsIn } from './tidy/import_rules.ts';
import { PLATFORM, RULES, strayEntries } from './tidy/rules.ts';
import { ROOT, readSourceFiles, readTopLevel, sourceFile } from './tidy/source_file.ts';

const FILES = readSourceFiles();

for (const { name, find, broken, kept } of RULES) {
  test(`Each source file ${name}`, () => {
    const found = FILES.flatMap((file) => find(file, FILES).map((what) => `${file.path}: ${what}`));
    assert.equal(found.length, 0, `\n${found.join('\n')}`);
  });

  test(`The rule "${name}" finds only violations`, () => {
    assert.equal(find(broken, [broken]).length, 1);
    assert.deepEqual(find(kept, [kept]), []);
  });
}

describe('Imports', async () => {
  const read = await readImports(ROOT);
  const violations = violationsIn(read);

  test('follow the rules of test/tidy/areas.ts', () => {
    const broken = violations.filter(({ circle }) => circle.length === 0);
    assert.deepEqual(
      broken.map(({ rule, from, to }) => `${from} imports ${to}: ${rule}`),
      [],
    );
  });

  test('refer to a file', () => assert.deepEqual(brokenImports(read), []));

  test('form no cycle of files', () => {
    const circles = violations.filter(({ circle }) => circle.length > 0).map(({ circle }) => circle.join(' imports '));
    assert.deepEqual(circles, []);
  });

  test('form no cycle of rooms', () => assert.deepEqual(roomCircles(read), []));
});

const SAMPLES: readonly [path: string, text: string, broken?: string][] = [
  ['src/model/a.ts', "import type { B } from '../core/b.ts';\n", 'src/model imports only what it may import'],
  ['src/core/a.ts', "import {\n  type B,\n} from '../model/b.ts';\nimport '../errors.ts';\n"],
  ['src/core/b.ts', "import { readFileSync } from 'node:fs';\n", 'src/core is pure'],
  ['src/core/geo/a.ts', "import proj4 from 'proj4';\n"],
  ['src/nowhere/a.ts', "import '../errors.ts';\n", 'each file is in an area'],
  ['src/api/a.ts', "import { Server } from 'hyper-express';\n", 'hyper-express is imported in src/transport only'],
  ['src/transport/a.ts', "import { Server } from 'hyper-express';\n"],
  ['src/hub/a.ts', "const { openHub } = await import('./hub.ts');\n", 'only main.ts and tests import hub.ts'],
  ['src/main.ts', "import { openHub } from './hub/hub.ts';\n"],
  ['src/api/b.ts', "export { c } from './c.ts';\n", 'files import each other in no circle'],
  ['src/api/c.ts', "import type { B } from './b.ts';\n", 'files import each other in no circle'],
  ['src/socket/a.ts', "import '../fanout/a.ts';\nconst text = \"import '../api/a.ts'\";\n"],
  ['src/fanout/a.ts', '// import "../socket/a.ts";\n'],
  ['src/hub/b.ts', "import type { D } from '../cluster/a.ts';\nconst { c } = await import('../cluster/a.ts');\n"],
  ['src/hub/c.ts', "import { d } from '../cluster/a.ts';\n", 'only import() loads src/cluster'],
  ['src/hub/d.ts', "import { m } from '../mqtt/a.ts';\n", 'only import() loads src/mqtt'],
  ['src/hub/e.ts', "import type { M } from '../mqtt/a.ts';\nconst { m } = await import('../mqtt/a.ts');\n"],
  [
    'src/hub-ui/controls/a.ts',
    "import '../map_page/tools/a.ts';\n",
    'src/hub-ui/controls imports only what it may import',
  ],
  ['src/hub-ui/map/plane/a.ts', "import '../view/a.ts';\n", 'src/hub-ui/map/plane imports only what it may import'],
  ['src/hub-ui/map/view/a.ts', ''],
  ['src/hub-ui/map_page/tools/a.ts', "import '../../map/view/a.ts';\n"],
  ['src/hub-ui/nowhere/a.ts', "import '../json/a.ts';\n", 'each file is in an area'],
  ['src/hub-ui/json/a.ts', ''],
  ['src/mqtt/a.ts', ''],
  ['src/cluster/a.ts', "import '../wire/a.ts';\n"],
  ['src/wire/a.ts', ''],
  ['src/errors.ts', ''],
  ['src/model/b.ts', ''],
  ['src/hub/hub.ts', ''],
];

test('The import rules find only violations', async () => {
  const root = temporaryFolder();
  for (const [path, text] of SAMPLES) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const read = await readImports(root, ['src']);
  const violations = violationsIn(read);
  for (const [path, , broken] of SAMPLES) {
    const found = violations
      .filter(({ from, circle }) => from === path || circle.includes(path))
      .map(({ rule }) => rule);
    if (broken === undefined) assert.deepEqual(found, [], path);
    else assert.ok(found.length === 1 && found[0]?.startsWith(broken), `${path}: ${found}`);
  }
  assert.deepEqual(roomCircles(read), [['src/core', 'src/model']]);
});

for (const use of [
  'process.env.HOME',
  'const later = setTimeout(run, 5)',
  'await fetch(address)',
  'performance.now()',
  'global.gc()',
  'x instanceof Buffer',
]) {
  test(`A platform feature is found in "${use}"`, () => assert.match(use, PLATFORM));
}

for (const use of [
  'item.process()',
  'const processed = 1',
  'prefetch(1)',
  'new Uint8Array(1)',
  '{ global }',
  'Math.min(1, 2)',
]) {
  test(`No platform feature is found in "${use}"`, () => assert.doesNotMatch(use, PLATFORM));
}

test('Every exception for fragments is needed', () => {
  assert.deepEqual(idleExceptions(FILES), []);
});

test('The root folder contains only the agreed entries', () => {
  assert.deepEqual(strayEntries(readTopLevel()), []);
});

test('strayEntries finds an entry that was not agreed', () => {
  const names = ['.ci', 'README.md', 'data.dat-wal', 'docs', 'hub.log', 'node_modules', 'src', 'doc', 'utils'];
  assert.deepEqual(strayEntries(names), ['doc', 'utils']);
});

test('readSourceFiles finds this file and its imports', () => {
  const self = FILES.find(({ path }) => path === 'test/tidy.test.ts');
  const imported = self?.imports.map(({ ours, module }) => ours ?? module);
  const modules = ['node:assert/strict', 'node:fs', 'node:path', 'node:test'];
  const tidy = ['fragments', 'import_rules', 'rules', 'source_file'].map((name) => `test/tidy/${name}.ts`);
  const ours = ['test/support/temporary_folder.ts', ...tidy];
  assert.deepEqual(imported, [...modules, ...ours]);
});

test('sourceFile reads imports of every form, with their lines', () => {
  const text = [
    "import a, {\n  b,\n} from '../x/a.ts';",
    "import type { C } from './c.ts';",
    "export { d } from './d.ts';",
    "import './e.ts';",
    "const f = await import('./f.ts');",
    "const g = new URL('../g.ts', import.meta.url);",
    'const h = "import h from \'./h.ts\'";',
    "// import i from './i.ts';",
    "import j from 'j';",
  ].join('\n');
  const imports = sourceFile('src/a/z.ts', text).imports.map(({ ours, module, line, address }) => {
    return `${line} ${ours ?? module}${address ? ', an address' : ''}`;
  });
  assert.deepEqual(imports.sort(), [
    '1 src/x/a.ts',
    '11 j',
    '4 src/a/c.ts',
    '5 src/a/d.ts',
    '6 src/a/e.ts',
    '7 src/a/f.ts',
    '8 src/g.ts, an address',
  ]);
});

test('sourceFile blanks comments and strings and keeps lines', () => {
  const text = "a /* b\nc */ d 'e // f' \"g\" // h\nconst url = 'http://x';\n";
  assert.equal(sourceFile('a.ts', text).code, `a     \n     d '      ' " "     \nconst url = '        ';\n`);
});
