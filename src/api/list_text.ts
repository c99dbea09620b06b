/** Characters of a list above which it is made as bytes: no text is longer than 536,870,888. */
const TEXT_MAX = 1 << 26;

/** JSON texts as one list, between a beginning and an end; as UTF-8 where that is too long to be a text. */
export function listText(texts: readonly string[], [start, end] = ['[', ']']): string | Uint8Array {
  let length = 0;
  for (const text of texts) length += text.length + 1;
  if (length <= TEXT_MAX) return start + texts.join(',') + end;
  let bytes = Buffer.byteLength(start) + Buffer.byteLength(end) + texts.length - 1;
  for (const text of texts) bytes += Buffer.byteLength(text);
  const list = Buffer.allocUnsafeSlow(bytes);
  let at = list.write(start);
  for (const [i, text] of texts.entries()) {
    if (i > 0) at += list.write(',', at);
    at += list.write(text, at);
  }
  list.write(end, at);
  return list;
}

/** The same as a FeatureCollection of Features. */
export function collectionText(features: readonly string[]): string | Uint8Array {
  return listText(features, ['{"type":"FeatureCollection","features":[', ']}']);
}
