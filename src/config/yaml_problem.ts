import type { Document } from 'yaml';

/** What `yaml` advises to programmers, in words for those who write the file. */
const PLAIN: Readonly<Record<string, string>> = { MULTIPLE_DOCS: 'a second document begins here' };

/**
 * Why a text cannot be read as YAML, and at which offset; undefined when it can. Only the first mistake is told: what
 * follows is guesswork, and its problems would be too.
 */
export function yamlProblem({
  errors,
  warnings,
}: Pick<Document, 'errors' | 'warnings'>): { readonly offset: number; readonly text: string } | undefined {
  const [first] = [...errors, ...warnings];
  if (first === undefined) return undefined;
  const reason = PLAIN[first.code] ?? first.message.split('\n', 1)[0];
  return { offset: first.pos[0], text: `cannot be read as YAML: ${reason}` };
}
