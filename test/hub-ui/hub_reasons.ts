import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from '@swc/core';

/** An error message in the sources of the hub, with `{}` in place of each value. */
export interface HubReason {
  readonly path: string;
  readonly text: string;
}

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));

/** Folders that handle requests of the page, or validate its data. */
const FOLDERS =
  /^(alerts|api|auth|cluster|core\/(rules|zone)|entities|fence_index|history\/queries|hub|lane|model|operation|transport)\//;

/** Files whose messages are never sent to a page, with the reason. */
const NOT_REPORTED: Readonly<Record<string, string>> = {
  'api/docs/': 'writes the documents of the API',
  'api/routes/adapters.ts': 'is sent by other systems',
  'api/routes/locations.ts': 'the page sends no locations',
  'api/routes/moving_features.ts': 'is asked by other clients',
  'hub/authorization.ts': 'fails at the start',
  'operation/hub_queries.ts': 'is for queries between hubs',
  'transport/certificate.ts': 'fails at the start',
};

/** Messages that are never sent to a page, with the reason. */
const OTHERS: readonly (readonly [text: RegExp, why: string])[] = [
  [/^Cannot apply a change of/, 'breaks an invariant'],
  [/^Cannot join the cluster/, 'is for the hub that starts'],
  [/^(it \{\}|found no answers|\{\} has released what cannot be read)$/, 'is between hubs, and broken'],
  [/^must be identity|WebSocket|^Cannot answer over HTTP/, 'is asked by no page'],
  [/^local, EPSG:4326, $/, 'is a part of a list of values'],
];

/** Prefix of a message that names the field first. */
const RULE = /^(must|is required|are required|is for|is no|is a name|was renamed|cannot be|expected|exactly one) ?/;

/** All error messages in the sources. */
export async function reasonsInSources(): Promise<readonly HubReason[]> {
  const paths = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).sort();
  const published = paths.filter((path) => {
    return (
      /(?<!\.d)\.ts$/.test(path) && FOLDERS.test(path) && !Object.keys(NOT_REPORTED).some((not) => path.startsWith(not))
    );
  });
  const found = await Promise.all(
    published.map(async (path) => {
      const text = readFileSync(SOURCES + path, 'utf8');
      return (await reasonsIn(text, /^cluster\//.test(path))).map((reason) => ({ path, text: reason }));
    }),
  );
  return found.flat().filter(({ text }) => !OTHERS.some(([other]) => other.test(text)));
}

/** The messages in one source. For `internal` sources, only messages of errors for clients. */
export async function reasonsIn(source: string, internal = false): Promise<readonly string[]> {
  const tree = await parse(source, { syntax: 'typescript' });
  const makers = new Set(['HubError', 'badRequest', ...makersIn(tree)]);
  const found: string[] = [];
  collect(tree, { within: internal ? 'internal' : 'code', makers, found });
  return [...new Set(found)];
}

type Node = Readonly<Record<string, unknown>>;

interface Search {
  /** `error`: sent to a client. `other`: thrown or logged internally. */
  readonly within: 'code' | 'internal' | 'error' | 'other';
  /** Functions that create errors for clients. */
  readonly makers: ReadonlySet<string>;
  readonly found: string[];
}

function collect(node: unknown, search: Search): void {
  if (typeof node !== 'object' || node === null) return;
  const text = textOf(node as Node);
  if (text !== undefined) take(text, search);
  const { type, arguments: given } = node as Node;
  // Concatenated parts are one message.
  if (type === 'BinaryExpression' && text !== undefined) return;
  const within = withinArguments(node as Node, search);
  for (const each of Object.values(node)) collect(each, each === given ? { ...search, within } : search);
}

/** Purpose of the arguments of a call. */
function withinArguments({ type, callee }: Node, { within, makers }: Search): Search['within'] {
  if (type !== 'NewExpression' && type !== 'CallExpression') return within;
  const name = calleeName(callee as Node);
  if (makers.has(name)) return 'error';
  return /Error$|^(notice|warn|error|info|debug|log)$/.test(name) ? 'other' : within;
}

function take(text: string, { within, found }: Search): void {
  const rule = text.replace(/^[\w.[\]{}-]+: /, '');
  if (/^\W*$/.test(rule) || within === 'other') return;
  const isReason = RULE.test(rule) || (/^Cannot /.test(text) && within === 'code');
  if (within === 'error' ? rule.includes(' ') : isReason && within === 'code') found.push(rule);
}

/** A literal, or a concatenation of literals, with `{}` for each inserted value. */
function textOf(node: Node): string | undefined {
  if (node['type'] === 'StringLiteral') return String(node['value']);
  if (node['type'] === 'TemplateLiteral') {
    return (node['quasis'] as readonly Node[]).map(({ cooked }) => String(cooked)).join('{}');
  }
  if (node['type'] !== 'BinaryExpression' || node['operator'] !== '+') return undefined;
  const [left, right] = [textOf(node['left'] as Node), textOf(node['right'] as Node)];
  return left === undefined || right === undefined ? undefined : left + right;
}

/** Functions of a source that return an error for clients. */
function makersIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(makersIn);
  if (typeof node !== 'object' || node === null) return [];
  const { type, identifier, returnType } = node as Node & { readonly identifier?: Node; readonly returnType?: Node };
  const returned = ((returnType?.['typeAnnotation'] as Node | undefined)?.['typeName'] as Node | undefined)?.['value'];
  const own = type === 'FunctionDeclaration' && returned === 'HubError' ? [String(identifier?.['value'])] : [];
  return [...own, ...Object.values(node).flatMap(makersIn)];
}

function calleeName(callee: Node | undefined): string {
  if (callee?.['type'] === 'Identifier') return String(callee['value']);
  if (callee?.['type'] === 'MemberExpression') return String((callee['property'] as Node)['value']);
  return '';
}
