import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Writes images in the layout of the OCI image specification 1.1: blobs by digest, and an index. */

/** A reference to a blob. */
interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** A folder as an entry of a layer. */
export interface LayerEntry {
  /** Folder on this machine; `paths` are relative to it. */
  readonly from: string;
  readonly paths: readonly string[];
  /** Owner as numbers; by default root. */
  readonly owner?: { readonly user: number; readonly group: number };
  /** Mode as in chmod. By default the owner can write, and all can read. */
  readonly mode?: string;
}

/** A layer: its blob, and the digest of its tar file. */
export interface Layer {
  readonly descriptor: Descriptor;
  readonly diffId: string;
}

/** An image for one architecture, as Go names it. */
export interface PlatformImage {
  readonly architecture: 'amd64' | 'arm64';
  /** Member `config` of its configuration: user, environment, command. */
  readonly config: object;
  readonly layers: readonly Layer[];
}

/** Names and time of an image. */
export interface ImageName {
  readonly name: string;
  readonly version: string;
  /** ISO 8601. */
  readonly created: string;
}

const MEDIA = 'application/vnd.oci.image';

/** A layout that is being written to a folder. The same files, in the same order, give the same bytes. */
export class OciLayout {
  readonly #folder: string;
  readonly #epochS: number;

  /** `epochS` is the time of all files, in seconds. */
  constructor(folder: string, epochS: number) {
    this.#folder = folder;
    this.#epochS = epochS;
    mkdirSync(join(folder, 'blobs', 'sha256'), { recursive: true });
  }

  /** Adds a layer. Later entries replace earlier ones with the same path. Throws an Error if tar fails. */
  addLayer(entries: readonly LayerEntry[]): Layer {
    const path = join(this.#folder, 'layer.tar');
    for (const { from, paths, owner = { user: 0, group: 0 }, mode = 'u=rwX,go=rX' } of entries) {
      const about = [`--owner=${owner.user}`, `--group=${owner.group}`, `--mode=${mode}`];
      this.#tar(path, [...about, '-C', from, ...paths]);
    }
    const tar = readFileSync(path);
    rmSync(path);
    return { descriptor: this.#addBlob(gzipSync(tar), `${MEDIA}.layer.v1.tar+gzip`), diffId: digestOf(tar) };
  }

  /** Writes the index of the images, and the whole layout as a tar file, which registries and engines import. */
  writeArchive(path: string, images: readonly PlatformImage[], { name, version, created }: ImageName): void {
    const manifests = images.map(({ architecture, config, layers }) => {
      const rootfs = { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) };
      const manifest = {
        schemaVersion: 2,
        mediaType: `${MEDIA}.manifest.v1+json`,
        config: this.#addJson({ created, architecture, os: 'linux', config, rootfs }, `${MEDIA}.config.v1+json`),
        layers: layers.map(({ descriptor }) => descriptor),
      };
      return { ...this.#addJson(manifest, manifest.mediaType), platform: { architecture, os: 'linux' } };
    });
    const mediaType = `${MEDIA}.index.v1+json`;
    const index = this.#addJson({ schemaVersion: 2, mediaType, manifests }, mediaType);
    const annotations = {
      'org.opencontainers.image.ref.name': version,
      // For engines, which otherwise import an image without a name.
      'io.containerd.image.name': `docker.io/library/${name}:${version}`,
    };
    const root = { schemaVersion: 2, mediaType, manifests: [{ ...index, annotations }] };
    writeFileSync(join(this.#folder, 'index.json'), JSON.stringify(root));
    writeFileSync(join(this.#folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    rmSync(path, { force: true });
    this.#tar(path, ['--owner=0', '--group=0', '-C', this.#folder, 'oci-layout', 'index.json', 'blobs']);
  }

  /** Appends files to a tar file. */
  #tar(path: string, args: readonly string[]): void {
    const stable = ['--sort=name', `--mtime=@${this.#epochS}`, '--numeric-owner', '--format=gnu'];
    execFileSync('tar', ['--append', '--file', path, ...stable, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  }

  #addJson(value: object, mediaType: string): Descriptor {
    return this.#addBlob(Buffer.from(JSON.stringify(value)), mediaType);
  }

  #addBlob(bytes: Buffer, mediaType: string): Descriptor {
    const digest = digestOf(bytes);
    const path = join(this.#folder, 'blobs', ...digest.split(':'));
    writeFileSync(path, bytes);
    return { mediaType, digest, size: statSync(path).size };
  }
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
