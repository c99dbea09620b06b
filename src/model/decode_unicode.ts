/** The encodings that a byte order mark names. PowerShell writes UTF-16 with one, Notepad any of these. */
const MARKED = [
  { mark: [0xff, 0xfe], encoding: 'utf-16le' },
  { mark: [0xfe, 0xff], encoding: 'utf-16be' },
] as const;

/**
 * Decodes a file that people or tools have written: UTF-8, or the encoding that its byte order mark names. The result has no
 * byte order mark. Throws an Error for bytes that are invalid in the encoding: a guess could turn a password into another one.
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
