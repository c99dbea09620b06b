import type { Document } from 'yaml';

/** Plain wording of messages that `yaml` addresses to programmers. */
const PLAIN: Readonly<Record<string, string>> = { MULTIPLE_DOCS: 'a second document begins here' };

/**
 * Reason why a string is not valid YAML, and its offset; undefined if it is valid. Only the first error is reported:
 * later ones are guesses.
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
