/** Encodings identified by a byte order mark. PowerShell writes UTF-16 with one, Notepad any of these. */
const MARKED = [
  { mark: [0xff, 0xfe], encoding: 'utf-16le' },
  { mark: [0xfe, 0xff], encoding: 'utf-16be' },
] as const;

/**
 * Decodes a text file in UTF-8 or in the encoding of its byte order mark, which is removed. Throws an Error for bytes
 * in another encoding: replacing them with U+FFFD would, for example, silently change a password.
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
