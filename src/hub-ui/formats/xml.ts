import { t } from '../languages/language.ts';

/** Element of an XML document. */
export interface XmlElement {
  /** Name without its prefix, if the prefix is undeclared or declared for the namespace given to `readXml`. */
  readonly name: string;
  /** Attributes by name, including prefixes. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** Character data directly in the element, CDATA sections included. */
  readonly text: string;
}

interface OpenElement extends XmlElement {
  readonly tag: string;
  readonly start: number;
  readonly children: XmlElement[];
  text: string;
}

const DEPTH_MAX = 500;
const NAME = /[\p{L}_:][\p{L}\p{N}_:.·-]*/uy;
const ATTRIBUTE = /\s*([^\s=/<>"']+)\s*=\s*(?:"([^"]*)"|'([^']*)')/y;

/**
 * Reads XML as map programs do. It accepts undeclared prefixes, an `&` that begins no reference, and empty lines before
 * the XML declaration, all of which strict parsers reject. It does not read document type definitions, so no entity
 * expands. Throws an Error with the line if the elements do not nest.
 */
export function readXml(source: string, isNamespace: (uri: string) => boolean): XmlElement {
  const text = source.replaceAll(/\r\n?/g, '\n');
  const foreign = new Map<string, boolean>();
  const open: OpenElement[] = [];
  let root: XmlElement | undefined;
  const fail = (at: number, what: string): never => {
    const line = text.slice(0, at).split('\n').length;
    throw new Error(t('The file is not XML: line {line}: {what}', { line, what }));
  };
  const addText = (at: number, part: string): void => {
    const parent = open.at(-1);
    if (parent !== undefined) parent.text += part;
    else if (/[^\s\uFEFF]/.test(part)) fail(at, t('text outside of all elements'));
  };
  /** Returns the position after the end of a construct. */
  const after = (end: string, at: number): number => {
    const found = text.indexOf(end, at);
    return found === -1 ? fail(at, t('{end} is missing', { end })) : found + end.length;
  };
  const startTag = (start: number, tag: string): number => {
    const attributes = new Map<string, string>();
    let at = start + 1 + tag.length;
    for (;;) {
      ATTRIBUTE.lastIndex = at;
      const [all = '', name = '', quoted, single = ''] = ATTRIBUTE.exec(text) ?? [];
      if (all === '') break;
      attributes.set(name, unescaped(quoted ?? single));
      if (name.startsWith('xmlns:')) foreign.set(name.slice('xmlns:'.length), !isNamespace(quoted ?? single));
      at += all.length;
    }
    const [end = '', slash] = /^\s*(\/?)>/.exec(text.slice(at, at + 100)) ?? [];
    if (end === '') fail(start, t('the tag of {name} is damaged', { name: `<${tag}>` }));
    if (root !== undefined && open.length === 0) fail(start, t('a second document begins'));
    const element = { tag, start, name: plainName(tag, foreign), attributes, children: [], text: '' };
    open.at(-1)?.children.push(element);
    root ??= element;
    if (slash === '') open.push(element);
    if (open.length > DEPTH_MAX) fail(start, t('elements are nested too deep'));
    return at + end.length;
  };
  const endTag = (start: number, tag: string): number => {
    const element = open.pop();
    if (element?.tag !== tag) fail(start, t('{found} ends no open element', { found: `</${tag}>` }));
    return after('>', start);
  };
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf('<', at);
    addText(at, unescaped(text.slice(at, next === -1 ? undefined : next)));
    if (next === -1) break;
    if (text.startsWith('<!--', next)) at = after('-->', next);
    else if (text.startsWith('<![CDATA[', next)) {
      at = after(']]>', next);
      addText(next, text.slice(next + '<![CDATA['.length, at - ']]>'.length));
    } else if (text.startsWith('<?', next)) at = after('?>', next);
    else if (text.startsWith('<!', next))
      at = after(/^[^[>]*\[/.test(text.slice(next, next + 1000)) ? ']>' : '>', next);
    else {
      const isEnd = text.charAt(next + 1) === '/';
      NAME.lastIndex = next + (isEnd ? 2 : 1);
      const [tag] = NAME.exec(text) ?? [];
      if (tag === undefined) {
        addText(next, '<');
        at = next + 1;
      } else at = isEnd ? endTag(next, tag) : startTag(next, tag);
    }
  }
  const unclosed = open.at(-1);
  if (unclosed !== undefined) fail(unclosed.start, t('{name} is not closed', { name: `<${unclosed.tag}>` }));
  return root ?? fail(0, t('it has no elements'));
}

function plainName(tag: string, foreign: ReadonlyMap<string, boolean>): string {
  const [prefix = '', name] = tag.split(':', 2);
  return name === undefined || foreign.get(prefix) === true ? tag : name;
}

const REFERENCES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Resolves references, and leaves any other `&`. */
function unescaped(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi,
    (all, decimal?: string, hex?: string, name = '') => {
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      if (code <= 0x10ffff) return String.fromCodePoint(code);
      return REFERENCES[name] ?? all;
    },
  );
}

/** Whether XML can contain all characters of a string. */
export function isXmlText(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 has no way to write these
  return text.isWellFormed() && !/[\0-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]/.test(text);
}

export function escapedXml(text: string): string {
  const named = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
  return named.replaceAll('\r', '&#13;');
}
