import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { OciLayout } from '../../deploy/packages/oci_layout.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const EPOCH_S = 1_700_000_000;
const NAME = { name: 'location-hub', version: '1.2.3', created: '2023-11-14T22:13:20Z' };

const folder = temporaryFolder();

/** Writes an image of these files for two architectures. Returns the path of its archive. */
function archived(own: string, timeS: number): string {
  const files = join(folder, own, 'files');
  mkdirSync(join(files, 'app'), { recursive: true });
  mkdirSync(join(files, 'data'));
  writeFileSync(join(files, 'app', 'b'), 'second', { mode: 0o700 });
  writeFileSync(join(files, 'app', 'a'), 'first', { mode: 0o600 });
  utimesSync(join(files, 'app', 'a'), timeS, timeS);
  const layout = new OciLayout(join(folder, own, 'layout'), EPOCH_S);
  const layers = [
    layout.addLayer([
      { from: files, paths: ['app'] },
      { from: files, paths: ['data'], owner: { user: 1000, group: 0 }, mode: '2770' },
    ]),
  ];
  const path = join(folder, `${own}.tar`);
  const config = { Entrypoint: ['/app/b'] };
  layout.writeArchive(
    path,
    [
      { architecture: 'amd64', config, layers },
      { architecture: 'arm64', config, layers },
    ],
    NAME,
  );
  return path;
}

const first = archived('first', 1);

test('The same files at another time give the same archive', () => {
  assert.ok(readFileSync(first).equals(readFileSync(archived('second', 2))));
});

interface Index {
  readonly manifests: readonly [{ readonly digest: string; readonly annotations?: object; readonly platform?: object }];
}

test('Each blob has its digest, and each platform a manifest with the digest of its unpacked layer', () => {
  const unpacked = join(folder, 'unpacked');
  mkdirSync(unpacked);
  execFileSync('tar', ['-xf', first, '-C', unpacked]);
  const blobs = join(unpacked, 'blobs', 'sha256');
  for (const name of readdirSync(blobs)) {
    assert.equal(
      createHash('sha256')
        .update(readFileSync(join(blobs, name)))
        .digest('hex'),
      name,
    );
  }
  const blob = (digest: string) => readFileSync(join(blobs, digest.replace('sha256:', '')));
  const json = <T>(digest: string) => JSON.parse(blob(digest).toString()) as T;
  const [root] = (JSON.parse(readFileSync(join(unpacked, 'index.json'), 'utf8')) as Index).manifests;
  assert.deepEqual(root.annotations, {
    'org.opencontainers.image.ref.name': '1.2.3',
    'io.containerd.image.name': 'docker.io/library/location-hub:1.2.3',
  });
  const { manifests } = json<Index>(root.digest);
  assert.deepEqual(
    manifests.map(({ platform }) => platform),
    ['amd64', 'arm64'].map((architecture) => ({ architecture, os: 'linux' })),
  );
  for (const { digest } of manifests) {
    const manifest = json<{ config: { digest: string }; layers: readonly [{ digest: string; size: number }] }>(digest);
    const [layer] = manifest.layers;
    const tar = gunzipSync(blob(layer.digest));
    assert.equal(blob(layer.digest).length, layer.size);
    const { rootfs, created } = json<{ rootfs: object; created: string }>(manifest.config.digest);
    const diffId = `sha256:${createHash('sha256').update(tar).digest('hex')}`;
    assert.deepEqual(rootfs, { type: 'layers', diff_ids: [diffId] });
    assert.equal(created, NAME.created);
  }
});

test('Files belong to root and are readable by all, unless the entry has an owner and a mode', () => {
  const unpacked = join(folder, 'unpacked');
  const layers = readdirSync(join(unpacked, 'blobs', 'sha256')).flatMap((name) => {
    const { status, stdout } = spawnSync('tar', ['-tvzf', join(unpacked, 'blobs', 'sha256', name), '--numeric-owner'], {
      encoding: 'utf8',
      env: { ...process.env, TZ: 'UTC' },
    });
    return status === 0 ? [stdout] : [];
  });
  assert.deepEqual(
    layers.map((text) =>
      text
        .trim()
        .split('\n')
        .map((line) => line.replace(/ +/g, ' ')),
    ),
    [
      [
        'drwxr-xr-x 0/0 0 2023-11-14 22:13 app/',
        '-rw-r--r-- 0/0 5 2023-11-14 22:13 app/a',
        '-rwxr-xr-x 0/0 6 2023-11-14 22:13 app/b',
        'drwxrws--- 1000/0 0 2023-11-14 22:13 data/',
      ],
    ],
  );
});

const noSkopeo = spawnSync('skopeo', ['--version']).status !== 0 && 'there is no skopeo';

test('skopeo copies the images of all platforms, and verifies their layers', { skip: noSkopeo }, () => {
  const copy = join(folder, 'copy');
  const options = ['--insecure-policy', 'copy', '--quiet', '--all'];
  execFileSync('skopeo', [...options, `oci-archive:${first}:1.2.3`, `oci:${copy}:1.2.3`], { stdio: 'pipe' });
  for (const architecture of ['amd64', 'arm64']) {
    const args = [`--override-arch=${architecture}`, 'inspect', '--config', `oci:${copy}:1.2.3`];
    const config = JSON.parse(execFileSync('skopeo', args, { encoding: 'utf8' })) as { architecture: string };
    assert.equal(config.architecture, architecture);
  }
});
