import { t } from '../languages/language.ts';

/** Formats that declare their encoding within the file. */
type Declaring = 'xml' | 'dxf';

export interface DecodedText {
  readonly text: string;
  /** Warning for the user: the encoding is a guess, or differs from the declared one. */
  readonly note: string | undefined;
}

/**
 * Decodes the bytes of a text file. A byte order mark decides the encoding, else the declaration of the format, else
 * strict UTF-8. Windows-1252, which accepts all bytes, is the last resort. The result has no U+FFFD that the file does not
 * contain.
 */
export function decodeText(bytes: Uint8Array, format?: Declaring): DecodedText {
  const marked = strictly(bytes, unicodeOf(bytes));
  if (marked !== undefined) return { text: marked, note: undefined };
  const declared = format === undefined ? undefined : DECLARED[format](bytes);
  const asDeclared = strictly(bytes, declared && labelOf(declared));
  if (asDeclared !== undefined) return { text: asDeclared, note: undefined };
  const utf8 = strictly(bytes, 'utf-8');
  const text = utf8 ?? new TextDecoder('windows-1252').decode(bytes);
  return { text, note: noteOn({ declared, isUtf8: utf8 !== undefined, isAscii: utf8?.length === bytes.length }) };
}

interface Guess {
  readonly declared: string | undefined;
  readonly isUtf8: boolean;
  readonly isAscii: boolean;
}

function noteOn({ declared, isUtf8, isAscii }: Guess): string | undefined {
  if (isAscii) return undefined;
  if (declared !== undefined) {
    return t('The file declares the encoding {declared}, but cannot be decoded as such. It was read as {encoding}.', {
      declared,
      encoding: isUtf8 ? 'UTF-8' : 'Windows-1252',
    });
  }
  if (isUtf8) return undefined;
  return t(
    'The file declares no encoding and is not UTF-8. It was read as Windows-1252: check its special characters.',
  );
}

/** Encoding of a file that begins with a byte order mark, or with an ASCII character in UTF-16. */
function unicodeOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be';
  return undefined;
}

/** Decodes bytes; undefined if they are invalid in the encoding, or if the encoding is unknown. */
function strictly(bytes: Uint8Array, label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    const page = DOS_PAGES[label];
    return page === undefined ? new TextDecoder(label, { fatal: true }).decode(bytes) : fromDosPage(bytes, page);
  } catch {
    return undefined;
  }
}

/** Returns the declared encoding of a file by its format. */
const DECLARED: Readonly<Record<Declaring, (bytes: Uint8Array) => string | undefined>> = {
  xml(bytes) {
    const [, encoding] = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"'>]+)["']/.exec(beginningOf(bytes, 1000)) ?? [];
    // The declaration was readable as ASCII, so it cannot be true: the file was converted after it was written.
    return encoding === undefined || /^(utf-?16|ucs-?2)/i.test(encoding) ? undefined : encoding;
  },
  dxf(bytes) {
    const header = beginningOf(bytes, 100_000);
    const [, version = '0'] = /\$ACADVER\s+1\s+AC(\d+)/.exec(header) ?? [];
    // Since AutoCAD 2007 DXF is UTF-8; it still names the code page of the system that wrote it.
    if (Number(version) >= 1021) return 'UTF-8';
    return /\$DWGCODEPAGE\s+3\s+(\S+)/.exec(header)?.[1];
  },
};

function beginningOf(bytes: Uint8Array, count: number): string {
  return new TextDecoder('windows-1252').decode(bytes.subarray(0, count));
}

/** WHATWG labels of Windows code pages that are not `windows-` and the number. */
const WINDOWS_PAGES: Readonly<Record<string, string>> = {
  '932': 'shift_jis',
  '936': 'gbk',
  '949': 'euc-kr',
  '950': 'big5',
  '65001': 'utf-8',
};

/** Bytes 0x80 to 0xFF of code pages that browsers cannot decode. */
const DOS_PAGES: Readonly<Record<string, string>> = {
  dos437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  dos850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  dos852:
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
};

/** Label of a declared encoding for `strictly`: `TextDecoder` does not support `ANSI_1252`, `cp850` or `DOS437`. */
function labelOf(declared: string): string {
  const name = declared.toLowerCase();
  const [, page = ''] = /^(?:ansi|dos|ibm|cp|windows)[_-]?(\d+)$/.exec(name) ?? [];
  if (page === '') return name === 'utf8' ? 'utf-8' : name;
  const label = WINDOWS_PAGES[page];
  if (label !== undefined) return label;
  if (`dos${page}` in DOS_PAGES) return `dos${page}`;
  return page === '866' ? 'ibm866' : `windows-${page}`;
}

function fromDosPage(bytes: Uint8Array, page: string): string {
  const pieces: string[] = [];
  for (const byte of bytes) pieces.push(byte < 128 ? String.fromCharCode(byte) : page.charAt(byte - 128));
  return pieces.join('');
}

/** Code pages by the digit after `\M+` in DXF. */
const MULTIBYTE_PAGES: Readonly<Record<string, string>> = { 1: 'shift_jis', 2: 'big5', 3: 'euc-kr', 5: 'gbk' };

/** Replaces the escapes of DXF for characters that its code page lacks: `\U+00DC`, and `\M+2A440` of a multibyte page. */
export function unescapeDxf(value: string): string {
  if (!value.includes('\\')) return value;
  return value
    .replaceAll(/\\U\+([\da-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/\\M\+(\d)([\da-f]{2})([\da-f]{2})/gi, (unchanged, digit: string, high: string, low: string) => {
      const label = MULTIBYTE_PAGES[digit];
      const pair = Uint8Array.of(Number.parseInt(high, 16), Number.parseInt(low, 16));
      return strictly(pair, label) ?? unchanged;
    });
}
