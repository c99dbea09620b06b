import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installed, runInstall, type Tool } from './tools.ts';

/** The generator uses the compiler's library, which TypeScript 7 of this project does not have. */
const PACKAGES = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3', '@types/node@22.20.5'];
const NPM = ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1'];

/** Installs openapi-typescript unless it is installed. */
export function installTypeScriptGenerator(): Promise<Tool> {
  return installed('openapi-typescript-7.13.0', async (folder) => {
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    await runInstall('npm', [...NPM, ...PACKAGES], { cwd: folder });
  });
}
