import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

/**
 * Pages of the documentation site: the documents that README.md lists, and those to which they link. A page keeps the path
 * of its document, without `docs/`.
 */
export interface SitePages {
  /** Markdown by the path of the page, such as `api.md`. */
  readonly pages: ReadonlyMap<string, string>;
  /** Files other than documents to which pages link: the path from the root of the project, by the path in the site. */
  readonly files: ReadonlyMap<string, string>;
  readonly sidebar: readonly SidebarGroup[];
}

interface SidebarGroup {
  readonly text: string;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

const README = 'README.md';
const DOCUMENTS = 'docs/';
/** Character of private use, which no document contains. */
const HIDDEN = '\uE000';
const IMAGE = /\.(svg|png|jpe?g)$/;
const FENCED = /^```[\s\S]*?^```$/gm;
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;

/** Reads the pages of the project in a folder. Throws an Error that names a link without a target. */
export function sitePages(root: string): SitePages {
  const pages = new Map<string, string>();
  const files = new Map<string, string>();
  const queue = [README];
  for (const path of queue) {
    const page = withSiteLinks(path, readFileSync(join(root, path), 'utf8'), (target) => {
      if (!existsSync(join(root, target))) throw new Error(`${path}: there is no ${target}`);
      if (statSync(join(root, target)).isDirectory()) return undefined;
      if (!target.endsWith('.md')) {
        const file = fileOf(target);
        files.set(file, target);
        return `/${file}`;
      }
      if (!queue.includes(target)) queue.push(target);
      return `/${pageOf(target)}`;
    });
    pages.set(pageOf(path), page);
  }
  return { pages, files, sidebar: sidebarOf(readFileSync(join(root, README), 'utf8')) };
}

/** Returns the path of the page of a document: `docs/api.md` is `api.md`, and `deploy/README.md` is `deploy/index.md`. */
export function pageOf(path: string): string {
  if (path === README) return 'overview.md';
  const short = path.startsWith(DOCUMENTS) ? path.slice(DOCUMENTS.length) : path;
  return short.toLowerCase().replace(/(^|\/)readme\.md$/, '$1index.md');
}

/** Returns the path in the site of a file. Browsers show texts that end with .txt, and download many others. */
function fileOf(path: string): string {
  return IMAGE.test(path) ? `files/${path}` : `files/${path}.txt`;
}

/**
 * Returns a document with links as `linkOf` returns them for a path from the root. A link without one becomes its text.
 * Comments are removed. Code stays as it is.
 */
export function withSiteLinks(path: string, text: string, linkOf: (target: string) => string | undefined): string {
  const code: string[] = [];
  const hidden = (block: string): string => `${HIDDEN}${code.push(block) - 1}${HIDDEN}`;
  const prose = text
    .replaceAll(FENCED, hidden)
    .replaceAll(/`[^`\n]+`/g, hidden)
    .replaceAll(/<!--[\s\S]*?-->\n?/g, '')
    .replaceAll(LINK, (link: string, image: string, words: string, written: string) => {
      if (/^(\w+:|#)/.test(written)) return link;
      const [file = '', anchor] = written.split('#');
      const target = linkOf(posix.join(posix.dirname(path), file));
      if (target === undefined) return words;
      return `${image}[${words}](${target}${anchor === undefined ? '' : `#${anchor}`})`;
    });
  return prose.replaceAll(/\uE000(\d+)\uE000/g, (_, index: string) => code[Number(index)] ?? '');
}

/** Returns the tutorials, and the groups of README.md: a row of a table below "For users:" is an item of the group Users. */
function sidebarOf(readme: string): readonly SidebarGroup[] {
  const groups = readme.split(/^For (\w+):$/m).slice(1);
  const found: SidebarGroup[] = [];
  const tutorials: SidebarGroup['items'][number][] = [];
  for (let i = 0; i + 1 < groups.length; i += 2) {
    const [text = '', table = ''] = [groups[i], groups[i + 1]];
    const cells = [...table.matchAll(/^\| ([^|]*\]\([^|]*) \|/gm)].map(([, cell = '']) => cell);
    const items = cells.flatMap(itemsOf);
    const isTutorial = ({ link }: { readonly link: string }) => link.startsWith('/tutorials/');
    tutorials.push(...items.filter(isTutorial));
    found.push({ text: `${text[0]?.toUpperCase()}${text.slice(1)}`, items: items.filter((item) => !isTutorial(item)) });
  }
  return [{ text: 'Tutorials', items: tutorials }, ...found];
}

/** Returns an item for each link of a cell. */
function itemsOf(cell: string): SidebarGroup['items'] {
  return [...cell.matchAll(/\[([^\]]+)\]\(([^)#]+)[^)]*\)/g)].map(([, text = '', target = '']) => ({
    text,
    link: `/${pageOf(target).replace(/(index)?\.md$/, '')}`,
  }));
}
