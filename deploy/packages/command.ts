import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildHelmChart } from './helm_chart.ts';
import { ARCHITECTURES, buildImage } from './image.ts';
import type { Processor } from './installed_hub.ts';
import { buildLinuxPackage } from './linux_package.ts';
import { buildNpmPackage } from './npm_package.ts';
import { buildPythonSdk, buildTypeScriptSdk } from './sdk_packages.ts';

/**
 * `npm run package -- KIND... [--out FOLDER] [--processor NAME]...`: builds packages of the hub, and prints their paths and
 * sizes. The image is for each of the processors, by default for all.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MB = 1024 * 1024;
const PROCESSORS = Object.keys(ARCHITECTURES) as readonly Processor[];

interface Built {
  readonly path: string;
  /** Compressed sizes of its parts. */
  readonly sizes?: readonly { readonly what: string; readonly bytes: number }[];
}

const BUILDERS: Readonly<Record<string, (folder: string) => Promise<Built>>> = {
  npm: async (folder) => ({ path: await buildNpmPackage(ROOT, folder) }),
  deb: async (folder) => ({ path: await buildLinuxPackage(ROOT, folder, 'deb') }),
  rpm: async (folder) => ({ path: await buildLinuxPackage(ROOT, folder, 'rpm') }),
  image: (folder) => buildImage(ROOT, folder, processors),
  chart: async (folder) => ({ path: await buildHelmChart(ROOT, folder) }),
  'sdk-typescript': async (folder) => ({ path: buildTypeScriptSdk(ROOT, folder) }),
  'sdk-python': async (folder) => ({ path: buildPythonSdk(ROOT, folder) }),
};

const { values, positionals } = argumentsOf();
const processors = (values.processor ?? PROCESSORS).map((name) => {
  const processor = PROCESSORS.find((each) => each === name);
  return processor ?? fail(`the processor must be one of ${PROCESSORS.join(', ')}, found "${name}"`);
});
const kinds = positionals.length > 0 ? positionals : Object.keys(BUILDERS);
for (const kind of kinds) {
  const builder = BUILDERS[kind];
  if (builder === undefined) fail(`the kind must be one of ${Object.keys(BUILDERS).join(', ')}, found "${kind}"`);
  try {
    const { path, sizes = [] } = await builder(resolve(values.out));
    console.log(`${path}  ${megabytes(statSync(path).size)}`);
    for (const { what, bytes } of sizes) console.log(`  ${what}  ${megabytes(bytes)}`);
  } catch (error) {
    fail((error as Error).message);
  }
}

function argumentsOf() {
  try {
    return parseArgs({
      options: { out: { type: 'string', default: 'dist' }, processor: { type: 'string', multiple: true } },
      allowPositionals: true,
    });
  } catch (error) {
    // Thrown for unknown options.
    return fail((error as Error).message);
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / MB).toFixed(1)} MB`;
}

function fail(message: string): never {
  console.error(`Cannot build packages: ${message}`);
  process.exit(1);
}
