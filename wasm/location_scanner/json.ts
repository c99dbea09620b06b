/**
 * JSON scanner on bytes. Each function starts at an offset and returns the offset after what it has read, or FAIL. It
 * fails for invalid JSON and for unusual JSON, which the parser reads: escapes, exponents, minus zero, names that an
 * object would reorder.
 *
 * Eight zeros after the input terminate everything: no function reads further.
 */
export const FAIL: usize = 0;

export const QUOTE: u32 = 0x22;
const BACKSLASH: u32 = 0x5c;
const DELETE: u32 = 0x7f;
export const COMMA: u32 = 0x2c;
const MINUS: u32 = 0x2d;
const POINT: u32 = 0x2e;
const COLON: u32 = 0x3a;
const ZERO: u32 = 0x30;
export const OPEN_ARRAY: u32 = 0x5b;
export const CLOSE_ARRAY: u32 = 0x5d;
export const OPEN_OBJECT: u32 = 0x7b;
export const CLOSE_OBJECT: u32 = 0x7d;
/** `E` and `e` with the lower-case bit set. */
const EXPONENT: u32 = 0x65;
export const LOWER_CASE: u32 = 0x20;

/** Words as little-endian numbers. */
export const TRUE: u32 = 0x65757274;
const ALSE: u32 = 0x65736c61;
export const NULL: u32 = 0x6c6c756e;

/** Number of digits that a double always holds exactly. */
const EXACT_DIGITS: i32 = 15;
/** Smaller numbers are written with an exponent. */
const PLAIN_MIN: f64 = 1e-6;
const POWERS_OF_TEN: usize = memory.data<f64>([
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
]);

/** A number with fewer characters is finite. */
const NUMBER_MAX: usize = 300;

/** Maximum members of an object that are checked for duplicate names. */
const NAMES_MAX: i32 = 16;
const DEPTH_MAX: i32 = 8;
/** Offsets of the names of the open objects. */
const openNames: usize = memory.data(DEPTH_MAX * NAMES_MAX * 8, 8);

/** The last number, and the end of its shortest form. */
export let numberValue: f64 = 0;
export let numberEnd: usize = 0;
/** Length of the last member name, and the byte after the last value. */
export let nameLength: i32 = 0;
export let separator: u32 = 0;
/** Whether a non-ASCII byte, or a blank, was read since the last reset. */
export let sawUnicode: bool = false;
export let sawBlank: bool = false;

export function forgetUnicode(): void {
  sawUnicode = false;
}

export function forgetBlank(): void {
  sawBlank = false;
}

/** Whether a number with many digits is the shortest form of its value, and that value: computed by the host. */
declare function isShortest(at: usize, length: i32): bool;
declare function valueOfShortest(): f64;

/** Returns the offset after blanks. */
export function skipBlanks(at: usize): usize {
  return load<u8>(at) > 0x20 ? at : skipMoreBlanks(at);
}

function skipMoreBlanks(start: usize): usize {
  let at = start;
  while (isBlank(load<u8>(at))) at++;
  if (at !== start) sawBlank = true;
  return at;
}

export function isBlank(byte: u32): bool {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Skips a string in quotes, in UTF-8, without escapes and control characters, which the parser handles. */
export function skipText(start: usize): usize {
  let at = start + 1;
  let byte: u32 = load<u8>(at);
  while (byte !== QUOTE) {
    if (byte < 0x20 || byte === BACKSLASH || byte === DELETE) return FAIL;
    if (byte < 0x80) at++;
    else {
      at = skipUnicode(at, byte);
      if (at === FAIL) return FAIL;
    }
    byte = load<u8>(at);
  }
  return at + 1;
}

/** Skips the name of a member; returns the offset of its value. */
export function skipName(start: usize): usize {
  if (<u32>load<u8>(start) !== QUOTE) return FAIL;
  let at = skipText(start);
  if (at === FAIL) return FAIL;
  nameLength = <i32>(at - start - 2);
  at = skipBlanks(at);
  return <u32>load<u8>(at) === COLON ? skipBlanks(at + 1) : FAIL;
}

/** Skips the separator after a value; returns the offset of the next value, or of the end of the list or object. */
export function skipSeparator(start: usize): usize {
  const at = skipBlanks(start);
  separator = load<u8>(at);
  return separator === COMMA ? skipBlanks(at + 1) : at + 1;
}

/**
 * Skips one multi-byte character: not a control character, not overlong, not a surrogate, not beyond the last code
 * point.
 */
function skipUnicode(at: usize, first: u32): usize {
  sawUnicode = true;
  const second: u32 = load<u8>(at + 1);
  if (!isNext(second)) return FAIL;
  if (first === 0xc2 && second < 0xa0) return FAIL;
  if (first >= 0xc2 && first <= 0xdf) return at + 2;
  if (!isNext(load<u8>(at + 2))) return FAIL;
  if ((first & 0xf0) === 0xe0) {
    if (first === 0xe0 && second < 0xa0) return FAIL;
    return first === 0xed && second > 0x9f ? FAIL : at + 3;
  }
  if (!isNext(load<u8>(at + 3)) || first < 0xf0 || first > 0xf4) return FAIL;
  if (first === 0xf0 && second < 0x90) return FAIL;
  return first === 0xf4 && second > 0x8f ? FAIL : at + 4;
}

function isNext(byte: u32): bool {
  return (byte & 0xc0) === 0x80;
}

/** Returns the digit at the offset; more than 9 for another character. */
function digitAt(at: usize): u32 {
  return <u32>load<u8>(at) - ZERO;
}

/**
 * Reads a number, with its value and the end of its shortest form, which excludes trailing zeros of a fraction. Fifteen
 * digits divided by a power of ten give the correctly rounded double, since both are exact and the division rounds
 * once.
 */
export function readNumber(start: usize): usize {
  let at = start;
  const isNegative = <u32>load<u8>(at) === MINUS;
  if (isNegative) at++;
  const first = at;
  let digit = digitAt(at);
  if (digit > 9) return FAIL;
  let digits: u64 = digit;
  at++;
  if (digit === 0) {
    if (digitAt(at) <= 9) return FAIL;
  } else {
    digit = digitAt(at);
    while (digit <= 9) {
      digits = digits * 10 + digit;
      at++;
      digit = digitAt(at);
    }
  }
  let count = <i32>(at - first);
  let places = 0;
  let end = at;
  if (<u32>load<u8>(at) === POINT) {
    at++;
    const fraction = at;
    let kept = digits;
    digit = digitAt(at);
    while (digit <= 9) {
      digits = digits * 10 + digit;
      at++;
      if (digit !== 0) {
        end = at;
        kept = digits;
      }
      digit = digitAt(at);
    }
    if (at === fraction) return FAIL;
    places = end > fraction ? <i32>(end - fraction) : 0;
    count += places;
    digits = kept;
  }
  if ((<u32>load<u8>(at) | LOWER_CASE) === EXPONENT) return FAIL;
  if (count > EXACT_DIGITS) return readLong(start, end, at);
  if (digits === 0 && isNegative) return FAIL;
  const value = <f64>digits / load<f64>(POWERS_OF_TEN + ((<usize>places) << 3));
  if (digits !== 0 && value < PLAIN_MIN) return FAIL;
  numberValue = isNegative ? -value : value;
  numberEnd = end;
  return at;
}

function readLong(start: usize, end: usize, at: usize): usize {
  if (!isShortest(start, <i32>(end - start))) return FAIL;
  numberValue = valueOfShortest();
  numberEnd = end;
  return at;
}

/** Skips a number that is stored digit by digit. */
function skipNumber(start: usize): usize {
  let at = start;
  const isNegative = <u32>load<u8>(at) === MINUS;
  if (isNegative) at++;
  const first = at;
  at = skipDigits(at);
  if (at === first || (at - first > 1 && digitAt(first) === 0)) return FAIL;
  if (<u32>load<u8>(at) === POINT) {
    const fraction = at + 1;
    at = skipDigits(fraction);
    if (at === fraction) return FAIL;
  }
  if ((<u32>load<u8>(at) | LOWER_CASE) === EXPONENT || at - start > NUMBER_MAX) return FAIL;
  return isNegative && isZero(first, at) ? FAIL : at;
}

function skipDigits(start: usize): usize {
  let at = start;
  while (digitAt(at) <= 9) at++;
  return at;
}

function isZero(start: usize, end: usize): bool {
  let at = start;
  while (at < end && (digitAt(at) === 0 || <u32>load<u8>(at) === POINT)) at++;
  return at === end;
}

/** Skips `true` or `false`. */
export function skipBoolean(at: usize): usize {
  if (load<u32>(at) === TRUE) return at + 4;
  return load<u32>(at + 1) === ALSE && load<u8>(at) === 0x66 ? at + 5 : FAIL;
}

/** Skips any value that is nested at most a few levels. */
export function skipValue(at: usize, depth: i32 = 0): usize {
  const byte: u32 = load<u8>(at);
  if (byte === QUOTE) return skipText(at);
  if (byte === OPEN_OBJECT) return skipObject(at, depth);
  if (byte === OPEN_ARRAY) return skipArray(at, depth);
  if (byte === 0x74 || byte === 0x66) return skipBoolean(at);
  if (byte === 0x6e) return load<u32>(at) === NULL ? at + 4 : FAIL;
  return skipNumber(at);
}

function skipArray(start: usize, depth: i32): usize {
  if (depth === DEPTH_MAX) return FAIL;
  let at = skipBlanks(start + 1);
  if (<u32>load<u8>(at) === CLOSE_ARRAY) return at + 1;
  do {
    at = skipValue(at, depth + 1);
    if (at === FAIL) return FAIL;
    at = skipSeparator(at);
  } while (separator === COMMA);
  return separator === CLOSE_ARRAY ? at : FAIL;
}

/** Skips an object whose members have different names, in the order of JSON.stringify. */
export function skipObject(start: usize, depth: i32 = 0): usize {
  if (depth === DEPTH_MAX) return FAIL;
  let at = skipBlanks(start + 1);
  if (<u32>load<u8>(at) === CLOSE_OBJECT) return at + 1;
  const names = openNames + <usize>depth * NAMES_MAX * 8;
  let count = 0;
  do {
    const name = at;
    at = skipName(name);
    if (at === FAIL || count === NAMES_MAX || !isNewName(name + 1, nameLength, names, count)) return FAIL;
    count++;
    at = skipValue(at, depth + 1);
    if (at === FAIL) return FAIL;
    at = skipSeparator(at);
  } while (separator === COMMA);
  return separator === CLOSE_OBJECT ? at : FAIL;
}

/** Records a name. Fails if it is a duplicate, would be reordered (`10`), or is `__proto__`. */
function isNewName(at: usize, length: i32, names: usize, count: i32): bool {
  if (digitAt(at) <= 9 || load<u16>(at) === 0x5f5f) return false;
  for (let i = 0; i < count; i++) {
    const other = names + ((<usize>i) << 3);
    if (load<i32>(other + 4) === length && memory.compare(load<usize>(other), at, length) === 0) return false;
  }
  const own = names + ((<usize>count) << 3);
  store<usize>(own, at);
  store<i32>(own + 4, length);
  return true;
}

/** Copies a value without its blanks and returns the offset after the copy. */
export function copyCompact(to: usize, from: usize, end: usize): usize {
  let at = to;
  let isInText = false;
  for (let place = from; place < end; place++) {
    const byte: u32 = load<u8>(place);
    if (byte === QUOTE) isInText = !isInText;
    if (isInText || !isBlank(byte)) {
      store<u8>(at, byte);
      at++;
    }
  }
  return at;
}
