import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * An import of a file: a file of the project by its path from the root, or a package or Node module by its name.
 * import_rules.ts uses a parser to decide which imports are permitted. This reader also returns URLs, and takes a tenth
 * of a second for all files, so the groups of tests are known before the first test runs.
 */
export interface Import {
  readonly line: number;
  readonly ours?: string;
  readonly module?: string;
  /** Referenced by `new URL()`, like the file of a thread: used, but not imported. */
  readonly address?: true;
}

/** A source file, as read by the rules. */
export interface SourceFile {
  /** Path from the root, with slashes: `src/model/location.ts`. */
  readonly path: string;
  readonly text: string;
  /** The source with comments and string contents blanked, with the same lines. */
  readonly code: string;
  readonly imports: readonly Import[];
}

/** Folder of the project, with a trailing slash. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Folders of source files. */
export const FOLDERS = ['src', 'workers', 'wasm', 'bench', 'deploy', 'test', 'sdk'];
const SOURCE = /\.(ts|tsx|mjs)$/;

export function readSourceFiles(): SourceFile[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name.replaceAll('\\', '/')}`,
    ),
  )
    .filter((path) => SOURCE.test(path) && !path.includes('/node_modules/') && !path.includes('/dist/'))
    .sort()
    .map((path) => sourceFile(path, readFileSync(ROOT + path, 'utf8')));
}

/** Names in the root folder. */
export function readTopLevel(): string[] {
  return readdirSync(ROOT).sort();
}

export function sourceFile(path: string, text: string): SourceFile {
  const code = withoutProse(text);
  return { path, text, code, imports: importsOf(path, { text, code }) };
}

/** Static imports and re-exports at the start of a line, dynamic imports, and URLs. */
const IMPORTS = [
  /^(?:import|export)\b[^;'"]*?\bfrom\s+['"]([^'"]+)['"]/gm,
  /^import\s+['"]([^'"]+)['"]/gm,
  /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
  /\bnew URL\(\s*['"](\.[^'"]+)['"]\s*,\s*import\.meta\.url\s*\)/g,
];

function importsOf(path: string, { text, code }: { text: string; code: string }): Import[] {
  const matches = IMPORTS.flatMap((pattern) => [...text.matchAll(pattern)]);
  // Comments and strings are blanked in the code.
  return matches
    .filter(({ index }) => code[index] !== ' ')
    .map(({ 0: found, 1: name = '', index }) => {
      const line = text.slice(0, index).split('\n').length;
      if (!name.startsWith('.')) return { line, module: name };
      const ours = posix.join(posix.dirname(path), name);
      return found.startsWith('new') ? { line, ours, address: true } : { line, ours };
    });
}

const PROSE = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/gm;

/** Blanks comments and the contents of strings. The remaining characters keep their offsets. */
function withoutProse(text: string): string {
  return text.replace(PROSE, (found) => {
    if (found.startsWith('/')) return found.replaceAll(/[^\n]/g, ' ');
    return found.charAt(0) + ' '.repeat(found.length - 2) + found.charAt(0);
  });
}
