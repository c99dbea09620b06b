import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { hubError, messageOf } from '../errors.ts';
import type { HttpReply, HttpRequest } from '../exchange.ts';

/** Maximum bytes per request. Directories and tiles of PMTiles files are shorter. */
const RANGE_MAX_BYTES = 4 * 2 ** 20;
const HEADER_BYTES = 127;

/**
 * Serves ranges of a PMTiles file, at most 4 MiB each. The file is opened for each request, so it can be replaced at
 * any time. Its ETag depends only on its content, so copies on several hubs have the same ETag, and a replacement
 * changes it. Rejects with a HubError if the file cannot be read.
 */
export async function serveMapFile(path: string, request: HttpRequest): Promise<HttpReply> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    const header = await readRange(file, { start: 0, end: Math.min(size, HEADER_BYTES) });
    const headers = {
      'Content-Type': 'application/octet-stream',
      'Accept-Ranges': 'bytes',
      'Cache-Control': 'no-store',
      ETag: `"${createHash('sha256').update(`${size} `).update(header).digest('base64url').slice(0, 22)}"`,
    };
    const asked = request.header('range');
    if (asked === undefined && size > RANGE_MAX_BYTES) {
      throw hubError('map_file_too_large', { file: basename(path) });
    }
    if (asked === undefined) return { status: 200, headers, body: await readRange(file, { start: 0, end: size }) };
    const range = rangeOf(asked, size);
    if (range === undefined) return { status: 416, headers: { ...headers, 'Content-Range': `bytes */${size}` } };
    const { start, end } = range;
    const found = { ...headers, 'Content-Range': `bytes ${start}-${end - 1}/${size}` };
    return { status: 206, headers: found, body: await readRange(file, range) };
  } finally {
    await file.close();
  }
}

/** Returns why a file is not a map; undefined if it is one. */
export async function whyNoMap(path: string): Promise<string | undefined> {
  try {
    const file = await openFile(path);
    try {
      const header = await readRange(file, { start: 0, end: HEADER_BYTES });
      const isMap = header.length === HEADER_BYTES && header.toString('latin1', 0, 8) === 'PMTiles\x03';
      return isMap ? undefined : `${basename(path)} is not a PMTiles file of version 3`;
    } finally {
      await file.close();
    }
  } catch (error) {
    return messageOf(error);
  }
}

interface Range {
  readonly start: number;
  /** Exclusive end. */
  readonly end: number;
}

/** Returns the range in a header, limited to the file and to the maximum per request; undefined if it is invalid. */
export function rangeOf(header: string, size: number): Range | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header.trim()) ?? [];
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start < end ? { start, end: Math.min(end, start + RANGE_MAX_BYTES) } : undefined;
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const file = basename(path);
    if (code === 'ENOENT') throw hubError('map_file_missing', { file }, { cause });
    throw hubError('map_file_unreadable', { file }, { cause, detail: String(code) });
  }
}

/** Reads a range; returns fewer bytes at the end of the file. */
async function readRange(file: FileHandle, { start, end }: Range): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(end - start), 0, end - start, start);
  return buffer.subarray(0, bytesRead);
}
