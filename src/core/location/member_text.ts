/** Functions that edit the members of a location (AcceptedLocation) as JSON text, without parsing it. */

const PROPERTIES = ',"properties":';
const [QUOTE, BACKSLASH, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** The members before and after the properties, and the properties as JSON; empty if there are none. */
export interface MemberParts {
  readonly before: string;
  readonly properties: string;
  readonly after: string;
}

/** Divides members at their properties. */
export function partsOf(text: string): MemberParts {
  // Quotes within a string are escaped, and the members before are plain values: this is the member itself.
  const start = text.indexOf(PROPERTIES);
  if (start < 0) return { before: text, properties: '', after: '' };
  const from = start + PROPERTIES.length;
  const end = endOfObject(text, from);
  return { before: text.slice(0, start), properties: text.slice(from, end), after: text.slice(end) };
}

/** Removes a member whose value is a number or a word, and which is not the first one. */
export function withoutMember(text: string, name: string): string {
  const start = text.indexOf(`,"${name}":`);
  if (start < 0) return text;
  const end = text.indexOf(',', start + 1);
  return text.slice(0, start) + (end < 0 ? '' : text.slice(end));
}

/** Returns a number as a member that follows another one; empty without a number. */
export function memberJson(name: string, value: number | undefined): string {
  return value === undefined ? '' : `,"${name}":${value}`;
}

/** Sets a property. `properties` is the JSON of an object, or empty. */
export function withProperty(properties: string, name: string, value: true | string): string {
  const key = JSON.stringify(name);
  if (properties.includes(key)) return JSON.stringify({ ...JSON.parse(properties), [name]: value });
  const members = properties.slice(1, -1);
  const added = `${key}:${JSON.stringify(value)}`;
  return members.trim() === '' ? `{${added}}` : `{${members},${added}}`;
}

/** Returns the offset after the object that starts at `start`. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return i + 1;
  }
  return text.length;
}
