/** A file in an archive. */
export interface ZippedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const [END, ENTRY] = [0x06054b50, 0x02014b50];
const [STORED, DEFLATED] = [0, 8];
/** What is read of an archive at most, unpacked: a small one may be a very large one packed. */
const UNPACKED_MAX = 200_000_000;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;

/** The files of a zip archive whose names fit. Throws an Error for what is none, or has too much in it. */
export async function unzip(archive: Uint8Array, isWanted: (name: string) => boolean): Promise<readonly ZippedFile[]> {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = endOf(view);
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  const files: ZippedFile[] = [];
  let unpacked = 0;
  for (let i = 0; i < count; i++) {
    if (at + 46 > view.byteLength || view.getUint32(at, true) !== ENTRY) throw new Error('The archive is damaged');
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    const nameEnd = at + 46 + (nameLength ?? 0);
    const name = new TextDecoder().decode(archive.subarray(at + 46, nameEnd));
    if (isWanted(name)) {
      const bytes = await unpackedFile(archive, view, at, UNPACKED_MAX - unpacked);
      unpacked += bytes.length;
      files.push({ name, bytes });
    }
    at = nameEnd + (extraLength ?? 0) + (commentLength ?? 0);
  }
  return files;
}

function endOf(view: DataView): number {
  const first = Math.max(0, view.byteLength - END_BYTES - COMMENT_BYTES_MAX);
  for (let at = view.byteLength - END_BYTES; at >= first; at--) if (view.getUint32(at, true) === END) return at;
  throw new Error('The file is no zip archive');
}

async function unpackedFile(archive: Uint8Array, view: DataView, entry: number, bytesMax: number): Promise<Uint8Array> {
  const method = view.getUint16(entry + 10, true);
  const length = view.getUint32(entry + 20, true);
  const at = view.getUint32(entry + 42, true);
  if (at + 30 > view.byteLength) throw new Error('The archive is damaged');
  // Its own head may have other extra fields than the list has.
  const begin = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  const packed = archive.slice(begin, begin + length);
  if (method === STORED) return packed;
  if (method !== DEFLATED) throw new Error(`The archive is packed by method ${method}, which cannot be read`);
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > bytesMax) throw new Error('The archive has more than 200,000,000 bytes in it');
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}
