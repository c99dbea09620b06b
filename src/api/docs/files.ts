import { readFile } from 'node:fs/promises';

/** A file of the documentation. */
export interface PageFile {
  readonly mediaType: string;
  /** Whether the file is a page, in which `{base}` is replaced by the folder of its files. */
  readonly isPage: boolean;
  readonly text: string;
}

const HTML = 'text/html; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';

interface Source {
  readonly mediaType: string;
  /** Resolves the address of the file on demand, so that a hub without the package still starts. */
  readonly address: () => string;
}

/** The files by name; no others are served. */
const SOURCES: ReadonlyMap<string, Source> = new Map([
  ['rest', own('rest.html', HTML)],
  ['rest.js', own('rest.js', JAVASCRIPT)],
  ['socket', own('socket.html', HTML)],
  ['socket.js', own('socket.js', JAVASCRIPT)],
  ['docs.css', own('docs.css', CSS)],
  ['swagger-ui.css', { mediaType: CSS, address: () => import.meta.resolve('swagger-ui-dist/swagger-ui.css') }],
  [
    'swagger-ui-bundle.js',
    { mediaType: JAVASCRIPT, address: () => import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js') },
  ],
]);

const files = new Map<string, PageFile>();

/** A file by its name, cached after the first read; undefined if the name is unknown. Rejects if it cannot be read. */
export async function pageFile(name: string): Promise<PageFile | undefined> {
  const source = SOURCES.get(name);
  if (source === undefined) return undefined;
  const known = files.get(name);
  if (known !== undefined) return known;
  const { mediaType, address } = source;
  const text = await readFile(new URL(address()), 'utf8');
  const file = { mediaType, isPage: mediaType === HTML, text };
  files.set(name, file);
  return file;
}

function own(name: string, mediaType: string): Source {
  return { mediaType, address: () => new URL(`./pages/${name}`, import.meta.url).href };
}
