/**
 * Caches the TypeScript of the project without its types, for all processes and threads of a test run: `node
 * --import ./test/stripped.mjs --test …`. Without it Node strips the types of every file that it loads, in each of a thousand
 * processes and their threads. That took two fifths of the start of a process.
 *
 * The first process strips changed files with Node's own function. All its descendants find this file in NODE_OPTIONS, and
 * read the cached files. Node strips a file that is not in the cache.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleOf, ensureBundled, entriesIn } from '../src/bundle.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'node_modules', '.cache', 'stripped');
const SOURCES = ['bench', 'deploy', 'sdk', 'src', 'test', 'wasm', 'workers'];
const OWN_OPTION = `--import=${import.meta.url}`;

/**
 * Large CommonJS packages. To import one, Node scans its source for exported names, which dominates its load time in
 * each process and thread. A module with named exports is cached instead.
 */
const NAMED_ONCE = ['geographiclib-geodesic', 'h3-js', 'playwright-core', 'proj4'];

/**
 * A package of hundreds of small modules, whose resolution takes a fifth of a second in each process that loads the
 * model. It is cached as three files.
 */
const JOINED = { package: 'typebox', entries: ['typebox', 'typebox/compile'] };

/** Path of the cached file for this source. */
function placeOf(text) {
  return join(FOLDER, `${createHash('sha1').update(process.version).update(text).digest('hex')}.js`);
}

/** Strips every file of the project that is not cached, and removes stale files. */
function fill() {
  mkdirSync(FOLDER, { recursive: true });
  const before = new Set(readdirSync(FOLDER).map((name) => join(FOLDER, name)));
  const wanted = new Set();
  for (const { parentPath, name } of SOURCES.flatMap((folder) => entriesOf(join(ROOT, folder)))) {
    const text = readFileSync(join(parentPath, name), 'utf8');
    const place = placeOf(text);
    wanted.add(place);
    if (before.has(place)) continue;
    const stripped = withoutTypes(text);
    if (stripped === undefined) continue;
    keep(place, stripped);
  }
  for (const name of NAMED_ONCE) keep(join(FOLDER, `${name}.mjs`), named(name));
  // Other runs may write at the same time: their unfinished files are kept.
  for (const place of before) if (place.endsWith('.js') && !wanted.has(place)) rmSync(place, { force: true });
}

/** Folder of the joined package, by its version. */
function joinedFolder() {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules', JOINED.package, 'package.json'), 'utf8'));
  return join(FOLDER, `${JOINED.package}-${version}`);
}

function joinedPlace(entry) {
  return join(JOINED_FOLDER, `${entry.replaceAll('/', '-')}.mjs`);
}

/** Joins the package, unless it is cached. */
async function joinModules() {
  if (existsSync(JOINED_FOLDER)) return;
  const { build } = await import('vite');
  const outDir = `${JOINED_FOLDER}-${process.pid}.new`;
  const { NODE_ENV } = process.env;
  await build({
    configFile: false,
    root: ROOT,
    publicDir: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir,
      minify: false,
      rolldownOptions: {
        input: Object.fromEntries(JOINED.entries.map((entry) => [entry.replaceAll('/', '-'), entry])),
        treeshake: false,
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
      },
    },
  });
  // Vite defines its build target, and the tests are not built by Vite.
  if (NODE_ENV === undefined) delete process.env.NODE_ENV;
  try {
    renameSync(outDir, JOINED_FOLDER);
  } catch {
    // Another process was faster.
    rmSync(outDir, { recursive: true, force: true });
  }
}

function keep(place, text) {
  const made = join(FOLDER, `${process.pid}.new`);
  writeFileSync(made, text);
  renameSync(made, place);
}

/** Source of a module with the exports of a package. */
function named(name) {
  const load = `createRequire(${JSON.stringify(join(ROOT, 'package.json'))})('${name}')`;
  const names = Object.keys(nodeModule.createRequire(join(ROOT, 'package.json'))(name));
  return `import { createRequire } from 'node:module';
const all = ${load};
export { all as default };
export const { ${names.filter((each) => /^[a-z]\w*$/i.test(each) && each !== 'default').join(', ')} } = all;
`;
}

/** Undefined if it is not TypeScript that Node could strip, such as AssemblyScript. */
function withoutTypes(text) {
  const { emitWarning } = process;
  // The warning that the function is experimental would stand in the output of commands.
  process.emitWarning = () => undefined;
  try {
    return nodeModule.stripTypeScriptTypes(text);
  } catch {
    return undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function entriesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => {
    return entry.isFile() && /\.ts$/.test(entry.name) && !entry.name.endsWith('.d.ts');
  });
}

function resolve(specifier, context, next) {
  const bundle = bundleFor(specifier);
  if (bundle !== undefined) return next(bundle, context);
  const place = context.parentURL?.endsWith('.ts') ? PLACES.get(specifier) : undefined;
  return next(place !== undefined && existsSync(place) ? pathToFileURL(place).href : specifier, context);
}

/** The bundle of a file that starts a process or a thread, so that tests run the code that users run. */
function bundleFor(specifier) {
  const file = BUNDLES.get(specifier);
  return file !== undefined && existsSync(file) ? pathToFileURL(file).href : undefined;
}

function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  try {
    const source = readFileSync(placeOf(readFileSync(fileURLToPath(url), 'utf8')), 'utf8');
    return { format: 'module', source, shortCircuit: true };
  } catch {
    return next(url, context);
  }
}

const JOINED_FOLDER = joinedFolder();
const BUNDLES = new Map(entriesIn(ROOT).map((entry) => [pathToFileURL(join(ROOT, entry)).href, bundleOf(entry, ROOT)]));
/** Joined packages, by import specifier. */
const PLACES = new Map([
  ...NAMED_ONCE.map((name) => [name, join(FOLDER, `${name}.mjs`)]),
  ...JOINED.entries.map((entry) => [entry, joinedPlace(entry)]),
]);

if (!process.env.NODE_OPTIONS?.includes(OWN_OPTION)) {
  fill();
  await joinModules();
  await ensureBundled(ROOT);
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} ${OWN_OPTION}`.trim();
}
// Older versions of Node, used by tests of the start, have no such hooks.
nodeModule.registerHooks?.({ resolve, load });
