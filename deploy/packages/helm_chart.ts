import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goInstalled } from '../../bench/process/go_installed.ts';
import { PACKAGE } from './npm_package.ts';

export const HELM = { path: 'helm.sh/helm/v3/cmd/helm', version: 'v3.22.0', name: 'helm' };

/**
 * Packs the Helm chart. Returns its path in the folder: helm would name it like the npm package. Throws an Error if helm
 * cannot be installed, or fails.
 */
export async function buildHelmChart(root: string, folder: string): Promise<string> {
  const helm = await goInstalled(HELM);
  if ('missing' in helm) throw new Error(helm.missing);
  const staged = mkdtempSync(join(tmpdir(), 'hub-package-'));
  try {
    const args = ['package', join(root, 'deploy/helm'), '--destination', staged];
    execFileSync(helm.path, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const [packed = ''] = readdirSync(staged);
    mkdirSync(folder, { recursive: true });
    const path = join(folder, packed.replace(PACKAGE, `${PACKAGE}-chart`));
    copyFileSync(join(staged, packed), path);
    return path;
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}
