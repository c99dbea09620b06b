/**
 * Whether a text matches a LIKE pattern: `%` stands for any run of characters, `_` for one; ASCII letters match in
 * either case. On a mismatch only the last `%` takes one character more, so the time is at most length times length:
 * an earlier `%` never needs to grow, since whatever it could skip the last one can skip too.
 */
export function like(text: string, pattern: string): boolean {
  let at = 0;
  let wanted = 0;
  let resumeAt = -1;
  let resumeWanted = -1;
  while (at < text.length) {
    const code = wanted < pattern.length ? pattern.charCodeAt(wanted) : -1;
    if (code === PERCENT) {
      resumeAt = at;
      resumeWanted = ++wanted;
    } else if (code === UNDERSCORE) {
      at += characterLength(text, at);
      wanted++;
    } else if (code !== -1 && folded(code) === folded(text.charCodeAt(at))) {
      at++;
      wanted++;
    } else {
      if (resumeWanted < 0) return false;
      resumeAt += characterLength(text, resumeAt);
      at = resumeAt;
      wanted = resumeWanted;
    }
  }
  while (wanted < pattern.length && pattern.charCodeAt(wanted) === PERCENT) wanted++;
  return wanted === pattern.length;
}

const PERCENT = 0x25;
const UNDERSCORE = 0x5f;

function folded(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}

/** Code units of the character at an index: 2 for a surrogate pair. */
function characterLength(text: string, index: number): number {
  return (text.codePointAt(index) as number) > 0xffff ? 2 : 1;
}
