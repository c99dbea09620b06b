import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  copyCompact,
  FAIL,
  forgetBlank,
  forgetUnicode,
  NULL,
  nameLength,
  numberEnd,
  numberValue,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  readNumber,
  sawBlank,
  sawUnicode,
  separator,
  skipBlanks,
  skipBoolean,
  skipName,
  skipObject,
  skipSeparator,
  skipText,
  skipValue,
} from './json';
import { NO_NAME, numberOf } from './names';
import { readTime } from './time';

/**
 * Scanner of locations: validates JSON against the Location schema and writes records (src/core/location/record.ts).
 * Everything but an ordinary location in EPSG:4326 is a FAIL, which the parser handles and explains.
 */

/** Members in the order of a record's JSON, then those that are not part of it. */
const SOURCE = 0;
const TYPE = 1;
const ID = 2;
const GENERATED = 3;
const SENT = 4;
const ASSOCIATED = 5;
const ACCURACY = 6;
const FLOOR = 7;
const REF = 8;
const TRUE_HEADING = 9;
const MAGNETIC_HEADING = 10;
const HEADING_ACCURACY = 11;
const SPEED = 12;
const COURSE = 13;
const PROPERTIES = 14;
const TEXT_MEMBERS = 15;
const CRS = 15;
const POSITION = 16;
const TRACKABLES = 17;
const UNKNOWN = 18;

const NEEDED: u32 = (1 << POSITION) | (1 << TYPE) | (1 << CRS);
const ALL_OF_TEXT: u32 = (1 << TEXT_MEMBERS) - 1;

/** Offsets and lengths of the values of members. */
const values: usize = memory.data(TEXT_MEMBERS * 8 + 8, 8);
/** Values of the numeric members. */
const numbers: usize = memory.data(TEXT_MEMBERS * 8, 8);
/** Coordinates; then offsets and lengths of their JSON. */
const coordinates: usize = memory.data(3 * 8, 8);
const coordinateTexts: usize = memory.data(3 * 8, 8);
let coordinateCount = 0;

/** Name of each member, in 24 bytes; and the JSON before its value in a record, 31 bytes and their number. */
const NAME_BYTES: usize = 24;
const names: usize = memory.data(UNKNOWN * 24, 8);
const heads: usize = memory.data(TEXT_MEMBERS * 32, 8);
const pointHead: usize = memory.data(64, 8);
let pointHeadLength = 0;

/** Longer strings, and larger properties, are left to the parser. */
let nameMax = 0;
let propertiesMax = 0;

/** Layout of a record: see src/core/location/record.ts. */
const HEAD_BYTES: usize = 96;
const R_SIZE: usize = 0;
const R_ID_SIZE: usize = 4;
const R_TYPE: usize = 12;
const R_FLAGS: usize = 13;
const R_POSITION_SIZE: usize = 14;
/** Overlays the item number, which the hub sets: the numbers of the names of provider and source. */
const R_ID_NUMBER: usize = 16;
const R_SOURCE_NUMBER: usize = 20;
const R_RECEIVED: usize = 24;
const R_GENERATED: usize = 32;
const R_X: usize = 40;
const R_Y: usize = 48;
const R_Z: usize = 56;
const R_ACCURACY: usize = 64;
const R_FLOOR: usize = 72;
const R_SPEED: usize = 80;
const R_COURSE: usize = 88;

const F_ASSOCIATED: u8 = 1;
const F_NOT_ASSOCIATED: u8 = 2;
const F_FROM_FLOOR: u8 = 4;
const F_FROM_ELLIPSOID: u8 = 8;
const F_ASCII: u8 = 16 | 32;
const F_SENT_TIME: u8 = 64;

/** The time of receipt as a JSON string, the default of timestamp_generated. */
const TIME_LENGTH = 26;
const receivedText: usize = memory.data(TIME_LENGTH + 8, 8);
let receivedTextMs: f64 = NaN;

/** Writes a time as RFC 3339 with milliseconds, 24 characters: implemented by the host. */
declare function writeTime(at: usize, ms: f64): void;

/** Memory for the records of one input. */
const OUT: usize = 0x100000;
const OUT_END: usize = 0x900000;
/** Maximum bytes of a record besides its values. */
const RECORD_MAX: usize = 1024;
let out: usize = OUT;

/** Sets the limits before the first location. */
export function setUp(longestName: i32, longestProperties: i32): void {
  nameMax = longestName;
  propertiesMax = longestProperties;
  setMember(SOURCE, 'source');
  setMember(TYPE, 'provider_type');
  setMember(ID, 'provider_id');
  setMember(GENERATED, 'timestamp_generated');
  setMember(SENT, 'timestamp_sent');
  setMember(ASSOCIATED, 'associated');
  setMember(ACCURACY, 'accuracy');
  setMember(FLOOR, 'floor');
  setMember(REF, 'elevation_ref');
  setMember(TRUE_HEADING, 'true_heading');
  setMember(MAGNETIC_HEADING, 'magnetic_heading');
  setMember(HEADING_ACCURACY, 'heading_accuracy');
  setMember(SPEED, 'speed');
  setMember(COURSE, 'course');
  setMember(PROPERTIES, 'properties');
  setMember(CRS, 'crs');
  setMember(POSITION, 'position');
  setMember(TRACKABLES, 'trackables');
  const head = '"position":{"type":"Point","coordinates":[';
  pointHeadLength = head.length;
  writeAscii(pointHead, head);
}

function setMember(member: i32, name: string): void {
  writeAscii(names + <usize>member * NAME_BYTES, name);
  if (member >= TEXT_MEMBERS) return;
  const head = (member === SOURCE ? '"' : ',"') + name + '":';
  const at = heads + ((<usize>member) << 5);
  writeAscii(at, head);
  store<u8>(at + 31, <u8>head.length);
}

function writeAscii(at: usize, text: string): void {
  for (let i = 0; i < text.length; i++) store<u8>(at + i, <u8>text.charCodeAt(i));
}

export function beginRecords(): void {
  out = OUT;
}

/** Returns the offset after the last record. */
export function recordsEnd(): usize {
  return out;
}

/**
 * Reads a location and writes its record. `path` is the provider id of the request's path, in quotes; its length is 0
 * without one.
 */
export function readLocation(start: usize, receivedMs: f64, path: usize, pathLength: i32): usize {
  if (<u32>load<u8>(start) !== OPEN_OBJECT) return FAIL;
  forgetUnicode();
  let known: u32 = 0;
  let seen: u32 = 0;
  let isSpaced = false;
  let at = skipBlanks(start + 1);
  do {
    const name = at;
    at = skipName(name);
    if (at === FAIL) return FAIL;
    const member = memberOf(name + 1, nameLength);
    if (member === UNKNOWN) {
      // The name does not matter: the member is dropped.
      at = skipValue(at);
    } else {
      const bit: u32 = 1 << member;
      if ((seen & bit) !== 0) return FAIL;
      seen |= bit;
      if (load<u32>(at) === NULL) {
        if (member === TYPE || member === POSITION) return FAIL;
        at += 4;
      } else {
        if (member === PROPERTIES) forgetBlank();
        const value = at;
        at = readMember(member, value);
        if (at === FAIL) return FAIL;
        if (member === PROPERTIES) isSpaced = sawBlank;
        // An empty name counts as absent.
        if (!((member === SOURCE || member === ID || member === CRS) && at - value === 2)) known |= bit;
      }
    }
    if (at === FAIL) return FAIL;
    at = skipSeparator(at);
  } while (separator === COMMA);
  if (separator !== CLOSE_OBJECT || (known & NEEDED) !== NEEDED) return FAIL;
  if (pathLength > 0) {
    if ((known & (1 << ID)) === 0) setValue(ID, path, pathLength);
    else if (lengthOf(ID) !== pathLength || memory.compare(valueOf(ID), path, pathLength) !== 0) return FAIL;
  } else if ((known & (1 << ID)) === 0) return FAIL;
  if ((known & (1 << GENERATED)) === 0) setReceived(receivedMs);
  if ((known & (1 << SOURCE)) === 0) setValue(SOURCE, valueOf(ID), lengthOf(ID));
  if (lengthOf(ID) - 2 > nameMax || lengthOf(SOURCE) - 2 > nameMax) return FAIL;
  return writeRecord(known | (1 << ID) | (1 << SOURCE), receivedMs, isSpaced) ? at : FAIL;
}

/** Sets timestamp_generated to the time of receipt. */
function setReceived(receivedMs: f64): void {
  if (receivedMs !== receivedTextMs) {
    store<u8>(receivedText, <u8>QUOTE);
    writeTime(receivedText + 1, receivedMs);
    store<u8>(receivedText + TIME_LENGTH - 1, <u8>QUOTE);
    receivedTextMs = receivedMs;
  }
  setValue(GENERATED, receivedText, TIME_LENGTH);
}

function valueOf(member: i32): usize {
  return load<usize>(values + ((<usize>member) << 3));
}

function lengthOf(member: i32): i32 {
  return load<i32>(values + ((<usize>member) << 3) + 4);
}

function setValue(member: i32, at: usize, length: i32): void {
  store<usize>(values + ((<usize>member) << 3), at);
  store<i32>(values + ((<usize>member) << 3) + 4, length);
}

function numberOfMember(member: i32): f64 {
  return load<f64>(numbers + ((<usize>member) << 3));
}

function readMember(member: i32, at: usize): usize {
  if (member === POSITION) return readPosition(at);
  if (member === TRACKABLES) return load<u16>(at) === 0x5d5b ? at + 2 : FAIL;
  let end: usize;
  if (member === PROPERTIES) {
    if (<u32>load<u8>(at) !== OPEN_OBJECT) return FAIL;
    end = skipObject(at);
    if (end === FAIL || <i32>(end - at) > propertiesMax) return FAIL;
  } else if (member === ASSOCIATED) end = skipBoolean(at);
  else if (member <= SENT || member === REF || member === CRS) {
    if (<u32>load<u8>(at) !== QUOTE) return FAIL;
    end = skipText(at);
  } else {
    end = readNumber(at);
    if (end === FAIL) return FAIL;
    store<f64>(numbers + ((<usize>member) << 3), numberValue);
    setValue(member, at, <i32>(numberEnd - at));
    return end;
  }
  if (end !== FAIL) setValue(member, at, <i32>(end - at));
  return end;
}

/** Reads a GeoJSON point with two or three coordinates and nothing else. */
function readPosition(start: usize): usize {
  if (<u32>load<u8>(start) !== OPEN_OBJECT) return FAIL;
  let hasType = false;
  let hasCoordinates = false;
  let at = skipBlanks(start + 1);
  do {
    const name = at;
    at = skipName(name);
    if (at === FAIL) return FAIL;
    if (nameLength === 4 && load<u32>(name + 1) === 0x65707974 && !hasType) {
      // "Point"
      if (load<u32>(at) !== 0x696f5022 || load<u32>(at + 3) !== 0x22746e69) return FAIL;
      hasType = true;
      at += 7;
    } else if (
      nameLength === 11 &&
      load<u64>(name + 1) === 0x616e6964726f6f63 &&
      load<u32>(name + 8) === 0x73657461 &&
      !hasCoordinates
    ) {
      hasCoordinates = true;
      at = readCoordinates(at);
      if (at === FAIL) return FAIL;
    } else return FAIL;
    at = skipSeparator(at);
  } while (separator === COMMA);
  return separator === CLOSE_OBJECT && hasType && hasCoordinates ? at : FAIL;
}

function readCoordinates(start: usize): usize {
  if (<u32>load<u8>(start) !== OPEN_ARRAY) return FAIL;
  let count = 0;
  let at = skipBlanks(start + 1);
  do {
    if (count === 3) return FAIL;
    const number = at;
    at = readNumber(number);
    if (at === FAIL) return FAIL;
    store<f64>(coordinates + ((<usize>count) << 3), numberValue);
    store<usize>(coordinateTexts + ((<usize>count) << 3), number);
    store<i32>(coordinateTexts + ((<usize>count) << 3) + 4, <i32>(numberEnd - number));
    count++;
    at = skipSeparator(at);
  } while (separator === COMMA);
  if (separator !== CLOSE_ARRAY || count < 2) return FAIL;
  coordinateCount = count;
  return at;
}

function writeRecord(known: u32, receivedMs: f64, isSpaced: bool): bool {
  const x = load<f64>(coordinates);
  const y = load<f64>(coordinates + 8);
  if (!isWgs84(valueOf(CRS), lengthOf(CRS)) || Math.abs(x) > 180 || Math.abs(y) > 90) return false;
  const type = typeOf(valueOf(TYPE) + 1, lengthOf(TYPE) - 2);
  if (type < 0) return false;
  const generatedMs = (known & (1 << GENERATED)) === 0 ? receivedMs : timeOf(GENERATED);
  if (generatedMs !== generatedMs) return false;
  let flags: u8 = sawUnicode ? 0 : F_ASCII;
  if ((known & (1 << SENT)) !== 0) {
    const sentMs = timeOf(SENT);
    if (sentMs !== sentMs) return false;
    flags |= F_SENT_TIME;
  }
  if ((known & (1 << ASSOCIATED)) !== 0)
    flags |= load<u8>(valueOf(ASSOCIATED)) === 0x74 ? F_ASSOCIATED : F_NOT_ASSOCIATED;
  if ((known & (1 << REF)) !== 0) {
    const ref = refOf(valueOf(REF), lengthOf(REF));
    if (ref === 0) return false;
    flags |= ref;
  }
  if ((known & (1 << ACCURACY)) !== 0 && numberOfMember(ACCURACY) < 0) return false;
  const idBytes = <usize>(lengthOf(ID) - 2);
  const inText = (known & ALL_OF_TEXT) | (1 << GENERATED);
  let bytes = RECORD_MAX + idBytes;
  for (let member = 0; member < TEXT_MEMBERS; member++) {
    if ((inText & (1 << member)) !== 0) bytes += lengthOf(member);
  }
  const record = out;
  if (record + bytes > OUT_END) return false;
  const id = numberOf(valueOf(ID) + 1, <i32>idBytes);
  const source = isSame(SOURCE, ID) ? id : numberOf(valueOf(SOURCE) + 1, lengthOf(SOURCE) - 2);
  if (id === NO_NAME || source === NO_NAME) return false;
  store<u32>(record + R_ID_SIZE, <u32>idBytes);
  // Indexes of source and crs: set by the hub when the record is copied.
  store<u32>(record + 8, 0);
  store<u8>(record + R_TYPE, <u8>type);
  store<u8>(record + R_FLAGS, flags);
  store<u32>(record + R_ID_NUMBER, id);
  store<u32>(record + R_SOURCE_NUMBER, source);
  store<f64>(record + R_RECEIVED, receivedMs);
  store<f64>(record + R_GENERATED, generatedMs);
  store<f64>(record + R_X, x);
  store<f64>(record + R_Y, y);
  store<f64>(record + R_Z, coordinateCount === 3 ? load<f64>(coordinates + 16) : NaN);
  store<f64>(record + R_ACCURACY, orNaN(known, ACCURACY));
  store<f64>(record + R_FLOOR, orNaN(known, FLOOR));
  store<f64>(record + R_SPEED, orNaN(known, SPEED));
  store<f64>(record + R_COURSE, orNaN(known, COURSE));
  const text = copy(record + HEAD_BYTES, valueOf(ID) + 1, <i32>idBytes);
  let at = writePosition(text);
  store<u16>(record + R_POSITION_SIZE, <u16>(at - text));
  let left = inText;
  while (left !== 0) {
    const member = ctz<u32>(left);
    left &= left - 1;
    const head = heads + ((<usize>member) << 5);
    at = copy(at, head, load<u8>(head + 31));
    const value = valueOf(member);
    const length = lengthOf(member);
    at = member === PROPERTIES && isSpaced ? copyCompact(at, value, value + length) : copy(at, value, length);
  }
  store<u32>(record + R_SIZE, <u32>(at - record));
  out = at;
  return true;
}

function writePosition(start: usize): usize {
  let at = copy(start, pointHead, pointHeadLength);
  for (let i = 0; i < coordinateCount; i++) {
    if (i > 0) {
      store<u8>(at, 0x2c);
      at++;
    }
    const text = coordinateTexts + ((<usize>i) << 3);
    at = copy(at, load<usize>(text), load<i32>(text + 4));
  }
  // ]},
  store<u32>(at, 0x2c7d5d);
  return at + 3;
}

/** Copies a short string, eight bytes at a time: the excess is overwritten by the next bytes. */
function copy(to: usize, from: usize, length: i32): usize {
  if (length > 64) memory.copy(to, from, length);
  else {
    for (let i = 0; i < length; i += 8) store<u64>(to + i, load<u64>(from + i));
  }
  return to + length;
}

function orNaN(known: u32, member: i32): f64 {
  return (known & (1 << member)) === 0 ? NaN : numberOfMember(member);
}

function timeOf(member: i32): f64 {
  const length = lengthOf(member);
  if (length - 2 > nameMax) return NaN;
  return readTime(valueOf(member) + 1, valueOf(member) + length - 1);
}

/** Whether two members have the same value: the same bytes of the same length. */
function isSame(one: i32, other: i32): bool {
  if (valueOf(one) === valueOf(other)) return true;
  return lengthOf(one) === lengthOf(other) && memory.compare(valueOf(one), valueOf(other), lengthOf(one)) === 0;
}

/** "EPSG:4326" */
function isWgs84(at: usize, length: i32): bool {
  return length === 11 && load<u64>(at + 1) === 0x3233343a47535045 && load<u16>(at + 9) === 0x2236;
}

/** Returns the flag of "floor" or "wgs84"; 0 for anything else. */
function refOf(at: usize, length: i32): u8 {
  if (length !== 7 || load<u8>(at + 6) !== 0x22) return 0;
  if (load<u32>(at + 1) === 0x6f6f6c66 && load<u8>(at + 5) === 0x72) return F_FROM_FLOOR;
  return load<u32>(at + 1) === 0x38736777 && load<u8>(at + 5) === 0x34 ? F_FROM_ELLIPSOID : 0;
}

/** Returns the index of a provider type in PROVIDER_TYPES; -1 for anything else. */
function typeOf(at: usize, length: i32): i32 {
  const word = load<u32>(at);
  switch (length) {
    case 3:
      if ((word & 0xffffff) === 0x627775) return 0; // uwb
      return (word & 0xffffff) === 0x737067 ? 1 : -1; // gps
    case 4:
      if (word === 0x69666977) return 2; // wifi
      return word === 0x64696672 ? 3 : -1; // rfid
    case 7:
      if (word === 0x61656269 && load<u32>(at + 3) === 0x6e6f6361) return 4; // ibeacon
      if (word === 0x2d656c62 && load<u32>(at + 3) === 0x616f612d) return 5; // ble-aoa
      if (word === 0x74726976 && load<u32>(at + 3) === 0x6c617574) return 7; // virtual
      return word === 0x6e6b6e75 && load<u32>(at + 3) === 0x6e776f6e ? 8 : -1; // unknown
    case 8:
      return word === 0x2d656c62 && load<u32>(at + 4) === 0x6873656d ? 6 : -1; // ble-mesh
    default:
      return -1;
  }
}

/** Returns the member of a name; UNKNOWN for anything else. */
function memberOf(at: usize, length: i32): i32 {
  switch (length) {
    case 3:
      return isOr(CRS, UNKNOWN, at, length);
    case 5:
      return isOr(FLOOR, SPEED, at, length);
    case 6:
      return isOr(SOURCE, COURSE, at, length);
    case 8:
      return isOr(POSITION, ACCURACY, at, length);
    case 10:
      if (isNamed(TRACKABLES, at, length)) return TRACKABLES;
      return isOr(PROPERTIES, ASSOCIATED, at, length);
    case 11:
      return isOr(ID, UNKNOWN, at, length);
    case 12:
      return isOr(TRUE_HEADING, UNKNOWN, at, length);
    case 13:
      return isOr(TYPE, REF, at, length);
    case 14:
      return isOr(SENT, UNKNOWN, at, length);
    case 16:
      return isOr(MAGNETIC_HEADING, HEADING_ACCURACY, at, length);
    case 19:
      return isOr(GENERATED, UNKNOWN, at, length);
    default:
      return UNKNOWN;
  }
}

/** Returns which of two members with names of that length it is, if any. */
function isOr(one: i32, other: i32, at: usize, length: i32): i32 {
  if (isNamed(one, at, length)) return one;
  return other !== UNKNOWN && isNamed(other, at, length) ? other : UNKNOWN;
}

/** Whether that is the name of a member. */
function isNamed(member: i32, at: usize, length: i32): bool {
  const name = names + <usize>member * NAME_BYTES;
  if (length < 8) return (load<u64>(at) & (((<u64>1) << ((<u64>length) << 3)) - 1)) === load<u64>(name);
  const last = <usize>length - 8;
  if (load<u64>(at) !== load<u64>(name) || load<u64>(at + last) !== load<u64>(name + last)) return false;
  return length <= 16 || load<u64>(at + 8) === load<u64>(name + 8);
}
