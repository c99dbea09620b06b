/**
 * Bundles the hub, its command-line tools and its workers if the bundles are missing or older than their sources:
 *
 *     node src/bundle.mjs
 *
 * A hub starts a dozen threads, each of which would load a hundred files and strip their types. With bundles, a hub
 * starts in half the CPU time and takes 45 MB less. `src/main.ts` also runs without bundles.
 */
import { cpSync, existsSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freshFolder, hashOf, hasStamp, replaceFolder } from './built_folder.mjs';

const SELF = fileURLToPath(import.meta.url);
const ROOT = dirname(dirname(SELF));
const [MAIN, TOOLS, WORKERS] = ['src/main.ts', 'src/cli/cli.ts', 'workers'];

/**
 * Packages that become part of the bundles, with their own packages: pure JavaScript, some with hundreds of files. Other
 * packages have native code or start threads of their own.
 */
const JOINED = [
  ...[
    'typebox',
    'proj4',
    'h3-js',
    'geographiclib-geodesic',
    'yaml',
    'lru-cache',
    'dequal',
    'jose',
    'commander',
    'nanotar',
  ],
  ...['hyper-express', '@nats-io', '@prometheus-io', 'mqtt', 'nodemailer', 'pg', 'pg-copy-streams', 'undici'],
  ...['@platformatic/kafka', 'standardwebhooks', 'cassandra-driver', '@modelcontextprotocol/server'],
  ...[
    'address-space',
    'certificate-manager',
    'debug',
    'nodeid',
    'secure-channel',
    'server',
    'status-code',
    'variant',
  ].map((name) => `node-opcua-${name}`),
];
/** Optional packages of these packages, which the hub does not need. They are not installed, and never loaded. */
const NEVER_LOADED = ['proper-lockfile'];
/** The native code of the HTTP server. */
const NATIVE = 'uWebSockets.js';

/** File of the output folder with the names of the packages that the bundles import, as JSON. */
const PACKAGES = 'packages.json';
const PACKAGE_NAME = /^(@[^/]+\/)?[^/]+/;

/** Entry of the OPC UA server. Its packages are installed only with those of the tests: they have 100 MB. */
const OPCUA = `${WORKERS}/opcua.ts`;
/** Files of these packages that the bundle of the OPC UA server reads. They become part of the output folder. */
const OPCUA_FILES = ['package.json', 'LICENSE', 'nodesets/Opc.Ua.NodeSet2.ndjson.gz'].map(
  (file) => `node_modules/node-opcua-nodesets/${file}`,
);

/** Returns the output folder. */
export function bundleFolder(root = ROOT) {
  return join(root, '.hub');
}

/** Returns the bundle of an entry file: src/main.ts, src/cli/cli.ts or workers/NAME.ts. */
export function bundleOf(file, root = ROOT) {
  return join(bundleFolder(root), `${basename(file, '.ts')}.js`);
}

/** Returns the entry files, which start a process or a thread, except those whose packages are not installed. */
export function entriesIn(root = ROOT) {
  const names = readdirSync(join(root, WORKERS)).filter((name) => name.endsWith('.ts'));
  const workers = names.map((name) => `${WORKERS}/${name}`);
  return [MAIN, TOOLS, ...workers.filter((entry) => entry !== OPCUA || hasOpcua(root))];
}

function hasOpcua(root) {
  return existsSync(join(root, 'node_modules/node-opcua-server'));
}

/** Returns the names of the packages that the bundles import. The bundles must exist. */
export function bundlePackages(root = ROOT) {
  return JSON.parse(readFileSync(join(bundleFolder(root), PACKAGES), 'utf8'));
}

/** Creates the bundles if needed. Rejects if that fails. */
export async function ensureBundled(root = ROOT) {
  const stamp = stampOf(root);
  const folder = bundleFolder(root);
  if (hasStamp(folder, stamp)) return;
  const { rolldown } = await import('rolldown');
  const fresh = freshFolder(folder);
  try {
    const bundle = await rolldown({
      input: Object.fromEntries(entriesIn(root).map((entry) => [basename(entry, '.ts'), join(root, entry)])),
      platform: 'node',
      external: isExternal,
      // With its WebAssembly inside, because its file is not beside the bundles.
      resolve: { alias: { '@platformatic/wasm-utils': '@platformatic/wasm-utils/bundled' } },
      plugins: [{ name: 'addresses', transform: (code, id) => withAddresses(code, relative(root, id)) }],
      logLevel: 'warn',
    });
    const { output } = await bundle.write({
      dir: fresh,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
    });
    await bundle.close();
    for (const file of hasOpcua(root) ? OPCUA_FILES : []) cpSync(join(root, file), join(fresh, file));
    writeFileSync(join(fresh, PACKAGES), JSON.stringify(packagesOf(output)));
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    throw error;
  }
  replaceFolder(folder, stamp);
}

/** Returns the names of the packages that the bundles import. */
function packagesOf(output) {
  const imported = output.flatMap(({ imports = [], dynamicImports = [] }) => [...imports, ...dynamicImports]);
  const names = imported.filter((id) => /^[@a-z]/i.test(id) && !isBuiltin(id)).map((id) => id.match(PACKAGE_NAME)[0]);
  return [...new Set(names)]
    .filter((name) => !NEVER_LOADED.includes(name) && !output.some(({ fileName }) => fileName === name))
    .sort();
}

/** Whether a module is not part of the bundles. */
function isExternal(id, importer = '') {
  if (id.startsWith('.') || isAbsolute(id)) return false;
  if (NEVER_LOADED.includes(id)) return true;
  if (JOINED.some((name) => id === name || id.startsWith(`${name}/`))) return false;
  return id === NATIVE || isBuiltin(id) || !importer.includes(`${sep}node_modules${sep}`);
}

const WORKER = /new URL\('(?:\.\.\/)+workers\/(\w+)\.ts', import\.meta\.url\)/g;

/**
 * Replaces `import.meta.url` in a module, so that workers are loaded from the bundles and all other files from the
 * sources.
 */
function withAddresses(code, file) {
  // The bundler's own modules have no file.
  if (file.includes('\0') || !code.includes('import.meta.url')) return undefined;
  const source = `new URL('../${file.split(sep).join('/')}', import.meta.url).href`;
  const parts = code.split(WORKER);
  // The names of workers are between the parts.
  return parts
    .map((part, n) =>
      n % 2 === 0 ? part.replaceAll('import.meta.url', source) : `new URL('./${part}.js', import.meta.url)`,
    )
    .join('');
}

function stampOf(root) {
  const hash = hashOf(root, ['src', WORKERS, 'wasm'], (file) => !file.startsWith(join('src', 'hub-ui', sep)));
  return hasOpcua(root) ? `${hash} with ${OPCUA}` : hash;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(SELF)) {
  await ensureBundled().catch((error) => {
    console.error(`Cannot bundle the hub: ${error.message}`);
    process.exit(1);
  });
}
