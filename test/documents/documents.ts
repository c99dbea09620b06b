import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A Markdown document of the project, as parsed for its tests. */
export interface Document {
  /** Path from the root, with slashes: `docs/data.md`. */
  readonly path: string;
  readonly text: string;
  /** Anchors of its headings, as code hosts generate them. */
  readonly anchors: ReadonlySet<string>;
  /** Unmodified targets of links and images, except those to other sites. */
  readonly links: readonly Link[];
  readonly blocks: readonly Block[];
  /** Inline code in its prose. */
  readonly words: readonly string[];
}

interface Link {
  readonly written: string;
  /** Path from the root. */
  readonly target: string;
  /** Undefined if the link refers to the document itself. */
  readonly anchor: string | undefined;
}

/** A fenced block with its language. */
interface Block {
  readonly language: string;
  readonly text: string;
}

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['docs', 'deploy', 'src', 'bench', 'test', 'sdk', '.github'];
const FENCED = /^```(\w*)\n([\s\S]*?)^```$/gm;

/** All documents: those of the root folder, and those in subfolders. */
export function readDocuments(): readonly Document[] {
  const inRoot = readdirSync(ROOT);
  const below = FOLDERS.flatMap((folder) =>
    readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name.replaceAll('\\', '/')}`,
    ),
  );
  return [...inRoot, ...below]
    .filter((path) => path.endsWith('.md') && !path.includes('/node_modules/'))
    .toSorted()
    .map((path) => documentOf(path, readFileSync(ROOT + path, 'utf8')));
}

export function documentOf(path: string, text: string): Document {
  const prose = text.replaceAll(FENCED, '').replaceAll(/<!--[\s\S]*?-->/g, '');
  const links = [...prose.replaceAll(/`[^`\n]+`/g, '').matchAll(/\]\(([^()\s]+)\)/g)].map(
    ([, written = '']) => written,
  );
  return {
    path,
    text,
    anchors: anchorsOf(prose),
    links: links.filter((written) => !/^\w+:/.test(written)).map((written) => linkOf(path, written)),
    blocks: [...text.matchAll(FENCED)].map(([, language = '', block = '']) => ({ language, text: block })),
    words: [...prose.matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word),
  };
}

/** The text below a heading, up to the next one of its level. */
export function section({ path, text }: Document, heading: string): string {
  const [, after] = text.split(`\n## ${heading}\n`);
  if (after === undefined) throw new Error(`${path} has no heading "${heading}"`);
  return after.split('\n## ', 1)[0] ?? '';
}

function linkOf(path: string, written: string): Link {
  const [file = '', anchor] = written.split('#');
  return { written, anchor, target: file === '' ? path : posix.join(posix.dirname(path), file) };
}

/** Lower case, without punctuation, spaces as hyphens; duplicates get a number. */
function anchorsOf(prose: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of prose.matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    let anchor = slug;
    for (let i = 1; anchors.has(anchor); i++) anchor = `${slug}-${i}`;
    anchors.add(anchor);
  }
  return anchors;
}
