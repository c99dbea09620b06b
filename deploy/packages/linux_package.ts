import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goInstalled } from '../../bench/process/go_installed.ts';
import { HOME, installHub } from './installed_hub.ts';
import { PACKAGE } from './npm_package.ts';

/** The last version whose modules Go's proxy has completely. */
const NFPM = { path: 'github.com/goreleaser/nfpm/v2/cmd/nfpm', version: 'v2.43.4', name: 'nfpm' };

const LONG_DESCRIPTION = `Location providers send positions. The hub georeferences them, evaluates
fences and collisions, and publishes locations, motions and events over
WebSocket, REST and MQTT. The package contains its own Node.js.`;

/** Kinds of packages for Linux on x64. */
export type LinuxKind = 'deb' | 'rpm';

/**
 * Builds a package for Linux: the npm package with its packages and with Node.js, a systemd unit, and a configuration in
 * /etc/location-hub. Returns its path in the folder. Throws an Error if the packager cannot be installed, or fails.
 */
export async function buildLinuxPackage(root: string, folder: string, kind: LinuxKind): Promise<string> {
  const nfpm = await goInstalled(NFPM);
  if ('missing' in nfpm) throw new Error(nfpm.missing);
  const staged = mkdtempSync(join(tmpdir(), 'hub-package-'));
  try {
    await stage(root, staged);
    writeFileSync(join(staged, 'nfpm.yaml'), JSON.stringify(packageFile(root, staged)));
    mkdirSync(folder, { recursive: true });
    const args = ['package', '--config', join(staged, 'nfpm.yaml'), '--packager', kind, '--target', folder];
    const said = execFileSync(nfpm.path, args, { cwd: staged, encoding: 'utf8' });
    const path = said.match(/^created package: (.+)$/m)?.[1];
    if (path === undefined) throw new Error(`nfpm did not name the package: ${said}`);
    return path;
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

/** Writes the files of the package to `hub`, as they are installed, and the configuration. */
async function stage(root: string, staged: string): Promise<void> {
  await installHub(root, staged, 'x64');
  const config = readFileSync(join(root, 'hub_config.yaml'), 'utf8');
  writeFileSync(
    join(staged, 'hub_config.yaml'),
    config.replace(/^# data_path: null$/m, `data_path: /var/lib/${PACKAGE}`),
  );
}

/** Returns the description of the package for nfpm. */
function packageFile(root: string, staged: string): object {
  const { version, description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly [name in 'version' | 'description' | 'license']: string;
  };
  const own = (file: string) => join(root, 'deploy', 'packages', 'linux', file);
  const doc = `/usr/share/doc/${PACKAGE}`;
  return {
    name: PACKAGE,
    version,
    release: '1',
    arch: 'amd64',
    section: 'net',
    priority: 'optional',
    maintainer: 'The maintainers of the location hub <maintainers@example.org>',
    description: `${description}\n${LONG_DESCRIPTION}`,
    license,
    overrides: {
      deb: { depends: ['libc6 (>= 2.28)', 'libstdc++6', 'passwd'] },
      rpm: { depends: ['glibc >= 2.28', 'libstdc++', 'shadow-utils'] },
    },
    contents: [
      { src: join(staged, 'hub'), dst: HOME, type: 'tree' },
      { src: own('location-hub.sh'), dst: `/usr/bin/${PACKAGE}`, file_info: { mode: 0o755 } },
      { src: own('location-hub.service'), dst: `/usr/lib/systemd/system/${PACKAGE}.service` },
      { src: join(staged, 'hub_config.yaml'), dst: `/etc/${PACKAGE}/hub_config.yaml`, type: 'config|noreplace' },
      ...['README.md', 'CHANGELOG.md', 'NOTICE'].map((file) => ({ src: join(root, file), dst: `${doc}/${file}` })),
      { src: join(root, 'LICENSE'), dst: `${doc}/copyright` },
    ],
    scripts: {
      postinstall: own('postinstall.sh'),
      preremove: own('preremove.sh'),
      postremove: own('postremove.sh'),
    },
  };
}
