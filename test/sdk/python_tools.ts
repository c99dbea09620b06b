import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installed, runInstall, type Tool } from '../clients/generators/tools.ts';

/** The generator of types, the packages that the SDK uses, and a type checker. */
const PACKAGES = ['datamodel-code-generator==0.89.0', 'httpx==0.28.1', 'websockets==17.4', 'mypy==2.4.1'];
const PIP = ['install', '--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '20'];

/** Installs the Python packages for the SDK's tests into an environment of their own, unless they are installed. */
export async function installPythonTools(): Promise<Tool> {
  const { stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.version_info >= (3, 11))'], {
    encoding: 'utf8',
  });
  if (stdout?.trim() !== 'True') return { folder: '', skip: 'there is no Python 3.11 or later' };
  return installed('python-sdk', async (folder) => {
    await runInstall('python3', ['-m', 'venv', folder], { cwd: folder });
    await runInstall(join(folder, 'bin/python'), ['-m', 'pip', ...PIP, ...PACKAGES], { cwd: folder });
  });
}
