const MARK = [0xef, 0xbb, 0xbf] as const;

/** Strips the UTF-8 byte order mark, which .NET and PowerShell put before JSON. hot: once per body and frame. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  if (bytes[0] !== MARK[0] || bytes[1] !== MARK[1] || bytes[2] !== MARK[2]) return bytes;
  return bytes.subarray(MARK.length);
}
