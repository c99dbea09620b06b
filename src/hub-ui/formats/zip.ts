import { FlateErrorCode, Unzip, type UnzipFileInfo, UnzipInflate, unzipSync } from 'fflate';
import { t } from '../languages/language.ts';

const [STORED, DEFLATED] = [0, 8];
/** Limit of unpacked bytes per archive, against zip bombs. */
const UNPACKED_MAX = 200_000_000;
/** Packed bytes to inflate at a time. One byte may expand to a thousand. */
const PIECE_BYTES = 16_384;
/** Minimum size of an entry in the central directory. */
const ENTRY_BYTES = 46;

/** File in an archive. */
export interface ZippedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Unpacks the files of a zip archive with matching names. Throws an Error if it is not an archive, or too large by the
 * sizes in its central directory. Files that exceed their size there are rejected after at most one more piece.
 */
export function unzip(archive: Uint8Array, isWanted: (name: string) => boolean): readonly ZippedFile[] {
  let listed = 0;
  try {
    const wanted = new Map<string, UnzipFileInfo>();
    unzipSync(archive, {
      filter(info) {
        listed++;
        // The library reads past the end of a central directory if its declared length is too large.
        if (info.name === '' || listed * ENTRY_BYTES > archive.length) throw new Error(t('The archive is damaged'));
        if (isWanted(info.name)) wanted.set(info.name, info);
        return false;
      },
    });
    checkSizes([...wanted.values()]);
    return wanted.size === 0 ? [] : unpack(archive, wanted);
  } catch (cause) {
    const isOfLibrary = cause instanceof RangeError || (cause instanceof Error && 'code' in cause);
    if (!isOfLibrary) throw cause;
    const isNone = listed === 0 && 'code' in cause && cause.code === FlateErrorCode.InvalidZipData;
    throw new Error(isNone ? t('The file is not a zip archive') : t('The archive is damaged'), { cause });
  }
}

/** Checks compression methods and sizes before unpacking. */
function checkSizes(files: readonly UnzipFileInfo[]): void {
  let total = 0;
  for (const { size, originalSize, compression: method } of files) {
    if (method !== STORED && method !== DEFLATED) {
      throw new Error(t('The archive uses the unsupported compression method {method}', { method }));
    }
    total += Math.max(size, originalSize);
    if (total > UNPACKED_MAX) throw new Error(t('The archive unpacks to more than 200,000,000 bytes'));
  }
}

/** Unpacks files piece by piece; rejects sizes that differ from the central directory. */
function unpack(archive: Uint8Array, wanted: ReadonlyMap<string, UnzipFileInfo>): readonly ZippedFile[] {
  const begun = new Set<string>();
  const files = new Map<string, Uint8Array>();
  const unzipping = new Unzip((file) => {
    const info = wanted.get(file.name);
    if (info === undefined) return;
    // The local header must repeat the directory entry, and each file must occur once.
    const isListed = file.compression === info.compression && (file.size === undefined || file.size === info.size);
    if (!isListed || begun.has(file.name)) throw new Error(t('The archive is damaged'));
    begun.add(file.name);
    const bytes = new Uint8Array(info.originalSize);
    let at = 0;
    file.ondata = (error, piece, isLast) => {
      if (error !== null) throw error;
      if (at + piece.length > bytes.length || (isLast && at + piece.length < bytes.length)) {
        throw new Error(t('The archive is damaged'));
      }
      bytes.set(piece, at);
      at += piece.length;
      if (isLast) files.set(file.name, bytes);
    };
    file.start();
  });
  unzipping.register(UnzipInflate);
  for (let at = 0; at < archive.length; at += PIECE_BYTES) unzipping.push(archive.subarray(at, at + PIECE_BYTES));
  unzipping.push(new Uint8Array(0), true);
  return [...wanted.keys()].map((name) => {
    const bytes = files.get(name);
    if (bytes === undefined) throw new Error(t('The archive is damaged'));
    return { name, bytes };
  });
}
