import { isException, soleImporter } from './fragments.ts';
import { type SourceFile, sourceFile } from './source_file.ts';

/** A rule about source files, with a file that violates it and one that complies. */
export interface Rule {
  readonly name: string;
  /** Violations of the rule in a file, with their lines if possible. */
  find(file: SourceFile, all: readonly SourceFile[]): string[];
  readonly broken: SourceFile;
  readonly kept: SourceFile;
}

const TESTED = /^(test|bench|sdk\/\w+\/test)\//;
const CLOCKS = [
  'src/hub/hub.ts',
  'src/hub/connect_ingest.ts',
  'src/hub/connect_links.ts',
  'src/hub/machine.ts',
  'src/time/clock.ts',
  'src/time/task_scheduler.ts',
  'src/main.ts',
  'src/launch.mjs',
  'src/cli',
  'src/hub-ui',
  'src/transport',
  'src/lane',
  'workers/wide_column.ts',
  'bench',
  'deploy/packages/release_command.ts',
  'test',
  'sdk',
];
/** These delete their own temporary folders when the last writer has ended. */
const FOLDER_OWNERS = [
  'test/shares.ts',
  'test/support/maven_libraries.ts',
  'test/support/running_hub.ts',
  'test/support/shared_hubs.ts',
  'test/support/temporary_folder.ts',
];
const SILENT = ['src/model', 'src/core', 'src/fence_index', 'wasm'];
/** Names that are not part of the language. `a.process` is a member, not the global. */
export const PLATFORM =
  /(?<![.\w$])(Buffer|NodeJS|process|global(?=\.)|globalThis|require|__dirname|__filename|console|performance|fetch|crypto|navigator|window|document|setTimeout|setInterval|setImmediate|queueMicrotask|structuredClone|URL|WebSocket|Worker|MessageChannel|AbortController|EventTarget|WebAssembly)\b/;
const ENTRIES = [
  'src/main.ts',
  'src/cli/cli.ts',
  'src/launch.mjs',
  'src/build_ui.mjs',
  'src/bundle.mjs',
  'deploy/packages/command.ts',
  'deploy/site/command.ts',
  'deploy/packages/release_command.ts',
  'deploy/packages/location-hub.mjs',
  'src/hub-ui/main.tsx',
  'src/hub-ui/shell/service_worker.ts',
  'sdk/node-red/src/nodes.ts',
  'sdk/typescript/src/client.ts',
];

export const RULES: readonly Rule[] = [
  {
    name: 'uses no global of Node or of a browser in the core',
    find: ({ path, code }) => {
      if (!within(path, 'src/core')) return [];
      return linesWith(code, PLATFORM).map((line) => `line ${line}: is not of the language; have it passed in`);
    },
    broken: sourceFile('src/core/a.ts', 'const bytes: Buffer = made;\n'),
    kept: sourceFile('src/core/a.ts', 'const bytes = new Uint8Array(8); // no Buffer\nitem.process(bytes);\n'),
  },
  {
    name: 'is no barrel',
    find: (file) => [
      ...(/(^|\/)index\.\w+$/.test(file.path) ? ['must be named after its concept, not index'] : []),
      ...linesWith(file.code, /^export \*/).map((line) => `line ${line}: re-exports everything of another file`),
    ],
    broken: sourceFile('src/api/index.ts', ''),
    kept: sourceFile('src/api/indexes.ts', ''),
  },
  {
    name: 'is no fragment: short, and used by one file of its room alone',
    find(file, all) {
      const importer = soleImporter(file, all);
      if (importer === undefined || isException(file.path)) return [];
      return [`is used by ${importer} alone: put it there, or give it the concept that it belongs to`];
    },
    broken: sourceFile('src/api/a.ts', "import './a.ts';\n"),
    kept: sourceFile('src/api/a.ts', `import './a.ts';\n${'\n'.repeat(60)}`),
  },
  {
    name: 'has under 80 lines if it is the entry of a thread',
    find: ({ path, text }, all) => {
      const lines = text.split('\n').length - 1;
      // An entry is started by its URL.
      const isImported = all.some(({ imports }) => imports.some(({ ours, address }) => ours === path && !address));
      const isLong = within(path, 'workers') && !isImported && lines >= 80;
      return isLong ? [`has ${lines} lines: threads load, dispatch and return`] : [];
    },
    broken: sourceFile('workers/a.ts', '\n'.repeat(80)),
    kept: sourceFile('src/wire/a.ts', '\n'.repeat(80)),
  },
  {
    name: 'gets the time and random numbers passed, and reads no clock',
    find: ({ path, code }) => {
      if (CLOCKS.some((place) => within(path, place))) return [];
      const clock = /\b(Date\.now|Math\.random|performance\.now|setTimeout|setInterval)\b|\bnew Date\(\s*\)/;
      return linesWith(code, clock).map((line) => `line ${line}: reads a clock or chance; make it an argument`);
    },
    broken: sourceFile('src/core/a.ts', 'const at = new Date();\n'),
    kept: sourceFile('src/core/a.ts', '// Date.now() would hide the rule\nconst at = new Date(nowMs);\n'),
  },
  {
    name: 'creates the temporary folders of tests with temporaryFolder',
    find: ({ path, code }) => {
      if (!within(path, 'test') || FOLDER_OWNERS.includes(path)) return [];
      return linesWith(code, /\bmkdtemp(Sync)?\(/).map((line) => `line ${line}: a hook could delete it too early`);
    },
    broken: sourceFile('test/a.test.ts', 'const folder = await mkdtemp(join(tmpdir(), name));\n'),
    kept: sourceFile('test/a.test.ts', 'const folder = temporaryFolder();\n'),
  },
  {
    name: 'does not log where its part is pure',
    find: ({ path, code }) => {
      if (!SILENT.some((place) => within(path, place))) return [];
      return linesWith(code, /\bconsole\.\w/).map((line) => `line ${line}: logs; count it, or return it`);
    },
    broken: sourceFile('wasm/a.ts', "console.log('x');\n"),
    kept: sourceFile('src/cli/a.ts', "console.log('x');\n"),
  },
  {
    name: 'has no type any',
    find: ({ code }) =>
      linesWith(code, /([:<|&,=(]|\bas)\s*any\s*([>;,)|&=[\]{]|$)/).map(
        (line) => `line ${line}: any switches the checks off`,
      ),
    broken: sourceFile('src/api/a.ts', 'const a = b as any;\n'),
    kept: sourceFile('src/api/a.ts', "const a: unknown = 'as any';\n"),
  },
  {
    name: 'has no default export, unless a tool or a thread pool wants one',
    find: ({ path, code }) => {
      // Node-RED loads the default export of its nodes.
      const isWanted = ['workers', 'sdk/node-red/src/nodes.ts'].some((place) => within(path, place));
      if (isWanted || path.endsWith('.config.ts')) return [];
      return linesWith(code, /^export default\b/).map((line) => `line ${line}: give it a name`);
    },
    broken: sourceFile('src/api/a.ts', 'export default 1;\n'),
    kept: sourceFile('workers/a.ts', 'export default 1;\n'),
  },
  {
    name: 'has no marks of unfinished work',
    find: ({ path, text, code }) => {
      if (path.startsWith('test/')) {
        return linesWith(code, /\b(it|test|describe)\.(only|skip|todo)\b/).map(
          (line) => `line ${line}: a test that does not run, or alone`,
        );
      }
      // In Spanish, todo means all.
      if (/\/languages\/es(_\w+)?\.ts$/.test(path)) return [];
      const mark = /\b(TODO|FIXME|XXX|HACK)\b|\bnot implemented\b|\bplaceholder\b(?!=)|\bstub\b/i;
      return linesWith(text, mark).map((line) => `line ${line}: finish it`);
    },
    broken: sourceFile('src/api/a.ts', '// TODO: the rest\n'),
    kept: sourceFile('src/api/a.ts', '// the rest\n'),
  },
  {
    name: 'is imported by something, unless it is an entry',
    find: ({ path }, all) => {
      const isEntry =
        ENTRIES.includes(path) ||
        TESTED.test(path) ||
        within(path, COMPILED) ||
        path.endsWith('.config.ts') ||
        path.endsWith('.d.ts');
      const used =
        isEntry || all.some((other) => other.path !== path && other.imports.some(({ ours }) => ours === path));
      return used ? [] : ['nothing imports it: use it, or remove it'];
    },
    broken: sourceFile('src/api/a.ts', "import './b.ts';\n"),
    kept: sourceFile('src/main.ts', ''),
  },
];

/** AssemblyScript, whose imports have no extensions. */
const COMPILED = 'wasm/location_scanner';

/** Whether a path is the file, or is in the folder. */
function within(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

function linesWith(text: string, pattern: RegExp): number[] {
  return text.split('\n').flatMap((line, index) => (pattern.test(line) ? [index + 1] : []));
}

const TOP_LEVEL = ['package.json', 'package-lock.json', 'tsconfig.json', 'biome.json', 'knip.json', 'hub_config.yaml']
  .concat(['src', 'workers', 'wasm', 'bench', 'test', 'docs', 'deploy', 'sdk'])
  .concat(['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'NOTICE']);

/** Names that git ignores, in addition to those with a dot. */
const IGNORED = /^(node_modules|test-output|dist|(data|config)\.dat.*|.*\.log)$/;

/** Entries of the root folder that do not belong there. */
export function strayEntries(names: readonly string[]): string[] {
  return names.filter((name) => !name.startsWith('.') && !TOP_LEVEL.includes(name) && !IGNORED.test(name));
}
