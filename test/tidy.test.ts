import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLATFORM, RULES, strayEntries } from './tidy/rules.ts';
import { readSourceFiles, readTopLevel, sourceFile } from './tidy/source_file.ts';

const FILES = readSourceFiles();

for (const { name, find, broken, kept } of RULES) {
  test(`Each source file ${name}`, () => {
    const found = FILES.flatMap((file) => find(file, FILES).map((what) => `${file.path}: ${what}`));
    assert.equal(found.length, 0, `\n${found.join('\n')}`);
  });

  test(`The rule "${name}" finds what breaks it, and only that`, () => {
    assert.equal(find(broken, [broken]).length, 1);
    assert.deepEqual(find(kept, [kept]), []);
  });
}

for (const use of [
  'process.env.HOME',
  'const later = setTimeout(run, 5)',
  'await fetch(address)',
  'performance.now()',
  'global.gc()',
  'x instanceof Buffer',
]) {
  test(`What a platform adds is found in "${use}"`, () => assert.match(use, PLATFORM));
}

for (const use of [
  'item.process()',
  'const processed = 1',
  'prefetch(1)',
  'new Uint8Array(1)',
  '{ global }',
  'Math.min(1, 2)',
]) {
  test(`Nothing of a platform is found in "${use}"`, () => assert.doesNotMatch(use, PLATFORM));
}

test('The root folder holds the agreed entries', () => {
  assert.deepEqual(strayEntries(readTopLevel()), []);
});

test('strayEntries finds an entry that was not agreed', () => {
  const names = ['.ci', 'README.md', 'data.dat-wal', 'docs', 'hub.log', 'node_modules', 'src', 'doc', 'utils'];
  assert.deepEqual(strayEntries(names), ['doc', 'utils']);
});

test('readSourceFiles finds this file and what it imports', () => {
  const self = FILES.find(({ path }) => path === 'test/tidy.test.ts');
  const imported = self?.imports.map(({ ours, module }) => ours ?? module);
  assert.deepEqual(imported, ['node:assert/strict', 'node:test', 'test/tidy/rules.ts', 'test/tidy/source_file.ts']);
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
