/** Encodings identified by a byte order mark. PowerShell writes UTF-16 with one, Notepad any of these. */
const MARKED = [
  { mark: [0xff, 0xfe], encoding: 'utf-16le' },
  { mark: [0xfe, 0xff], encoding: 'utf-16be' },
] as const;

/**
 * Decodes a text file: UTF-8, or the encoding of its byte order mark, without that mark. Throws an Error for bytes in
 * another encoding, since a password with U+FFFD in it would be wrong without any sign of that.
 */
export function decodeUnicode(bytes: Uint8Array): string {
  const marked = MARKED.find(({ mark }) => mark.every((byte, i) => bytes[i] === byte));
  const encoding = marked?.encoding ?? 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Error(`it must be text in UTF-8, found bytes that are not ${encoding.toUpperCase()}`, { cause });
  }
}
