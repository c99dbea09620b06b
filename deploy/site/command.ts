import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeApiReference } from './api_reference.ts';
import { siteConfig } from './config.ts';
import { type SitePages, sitePages } from './pages.ts';

/**
 * `npm run site [-- --out FOLDER] [--base PATH]`: builds the documentation site of this version. The API references of
 * other versions in the folder remain.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HERE = fileURLToPath(new URL('.', import.meta.url));
/** VitePress is installed and runs here. */
const WORK = join(ROOT, 'dist/.site');
const REFERENCE = 'api-reference';
const NPM = process.platform === 'win32' ? 'npm.cmd' : 'npm';

try {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: 'dist/site' }, base: { type: 'string', default: '/' } },
  });
  const { out, base } = values;
  if (!/^\/(.*\/)?$/.test(base)) throw new Error(`--base must begin and end with a slash, found "${base}"`);
  console.log(await build(resolve(out), base));
} catch (error) {
  console.error(`Cannot build the site: ${(error as Error).message}`);
  process.exit(1);
}

async function build(out: string, base: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const [source, built] = [join(WORK, 'source'), join(WORK, 'built')];
  for (const path of [source, join(WORK, '.vitepress')]) await rm(path, { recursive: true, force: true });
  await mkdir(join(WORK, '.vitepress'), { recursive: true });
  // Without it, VitePress would use that of the hub, whose target it does not know.
  await writeFile(join(WORK, 'tsconfig.json'), '{}\n');
  for (const name of ['package.json', 'package-lock.json']) await cp(join(HERE, name), join(WORK, name));
  if (!existsSync(join(WORK, 'node_modules/vitepress'))) await run(NPM, ['ci', '--ignore-scripts', '--no-audit']);
  const pages = sitePages(ROOT);
  await writeSource(source, pages);
  const config = siteConfig({ base, source, out: built, version, sidebar: pages.sidebar });
  await writeFile(join(WORK, '.vitepress/config.mjs'), config);
  await run(process.execPath, [join(WORK, 'node_modules/vitepress/bin/vitepress.js'), 'build', WORK]);
  const references = join(out, REFERENCE);
  if (existsSync(references)) await cp(references, join(built, REFERENCE), { recursive: true });
  await writeApiReference(ROOT, join(built, REFERENCE, version));
  await rm(out, { recursive: true, force: true });
  await cp(built, out, { recursive: true });
  return out;
}

/** Writes the pages, and the files to which they link. */
async function writeSource(folder: string, { pages, files }: SitePages): Promise<void> {
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  for (const [path, text] of pages) await write(path, text);
  for (const [path, file] of files) await cp(join(ROOT, file), join(folder, 'public', path));
  await write('index.md', await readFile(join(HERE, 'index.md'), 'utf8'));
}

/** Runs a program, whose output appears. Rejects unless it succeeds. */
async function run(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { cwd: WORK, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${[program, ...args].join(' ')} failed`);
}
