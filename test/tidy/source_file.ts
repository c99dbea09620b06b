import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * An import of a file: a file of the project by its path from the root, or a package or Node module by its name.
 * import_rules.ts decides with a parser which imports are allowed. This reader also returns URLs, and is fast: it takes a tenth
 * of a second for all files, so the groups of tests are known before the first test runs.
 */
export interface Import {
  readonly line: number;
  readonly ours?: string;
  readonly module?: string;
  /** Named by `new URL()`, as the file of a thread is: used, but not imported. */
  readonly address?: true;
}

/** A source file, as the rules see it. */
export interface SourceFile {
  /** From the root, with slashes: `src/model/location.ts`. */
  readonly path: string;
  readonly text: string;
  /** The text with comments and the insides of strings blanked, line by line as before. */
  readonly code: string;
  readonly imports: readonly Import[];
}

/** The folder of the project, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Folders of source files. */
export const FOLDERS = ['src', 'workers', 'wasm', 'bench', 'test'];
const SOURCE = /\.(ts|tsx|mjs)$/;

export function readSourceFiles(): SourceFile[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name.replaceAll('\\', '/')}`,
    ),
  )
    .filter((path) => SOURCE.test(path))
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

/** Static imports and re-exports, which begin a line, imports in expressions, and addresses. */
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
