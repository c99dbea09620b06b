import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/** A file of the web UI, with its compressed forms. */
export interface SiteFile {
  readonly mediaType: string;
  /** ETag of the plain bytes, quoted as in the header. */
  readonly etag: string;
  /** Whether the name contains a hash of the content, so that clients may cache it forever. */
  readonly isLasting: boolean;
  readonly plain: Uint8Array;
  readonly br: Uint8Array | undefined;
  readonly gzip: Uint8Array | undefined;
}

export type SiteFiles = ReadonlyMap<string, SiteFile>;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
};

/**
 * Reads the built web UI into memory, by names such as `assets/main-4f1d.js`. Returns no files if the folder is
 * missing.
 */
export function readSiteFiles(folder: string): SiteFiles {
  const files = new Map<string, SiteFile>();
  if (!existsSync(folder)) return files;
  for (const found of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const mediaType = MEDIA_TYPES[extname(found)];
    if (mediaType === undefined) continue;
    const plain = readFileSync(join(folder, found));
    const name = found.replaceAll('\\', '/');
    files.set(name, {
      mediaType,
      etag: etagOf(plain),
      isLasting: name.startsWith('assets/'),
      plain,
      br: packed(join(folder, `${found}.br`)),
      gzip: packed(join(folder, `${found}.gz`)),
    });
  }
  return files;
}

/**
 * Returns a function that returns the files of the built web UI. It reads the folder again while that is empty, since the hub
 * starts before the first build has ended.
 */
export function siteFilesIn(folder: string): () => SiteFiles {
  let files = readSiteFiles(folder);
  return () => {
    if (files.size === 0) files = readSiteFiles(folder);
    return files;
  };
}

/** Returns the ETag of a content, quoted as in the header. */
export function etagOf(plain: Uint8Array): string {
  return `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
}

function packed(path: string): Uint8Array | undefined {
  return existsSync(path) ? readFileSync(path) : undefined;
}
