import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Document, ROOT } from './documents.ts';

/** Returns why the commands of documents cannot be pasted here; false if they can. */
export function whyNotPasted(tools: readonly string[] = ['bash', 'curl']): string | false {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const missing = tools.filter((tool) => !folders.some((folder) => existsSync(join(folder, tool))));
  return missing.length > 0 && `needs ${missing.join(' and ')}`;
}

interface Pasting {
  /** Replacements of texts of the document, such as ports. */
  readonly replaced: Readonly<Record<string, string>>;
  readonly env?: NodeJS.ProcessEnv;
  /** Beginnings of blocks that are not pasted. Each must occur. */
  readonly without: readonly string[];
}

/**
 * Pastes the shell blocks of a document into one shell, in the root folder, and returns what they print. Rejects with the
 * errors of the first command that fails.
 */
export async function pasted(
  { blocks }: Pick<Document, 'blocks'>,
  { replaced, env = {}, without }: Pasting,
): Promise<string> {
  const shell = blocks.filter(({ language }) => language === 'sh').map((block) => block.text);
  for (const start of without)
    assert.ok(
      shell.some((block) => block.startsWith(start)),
      `no block starts with ${start}`,
    );
  let script = shell.filter((block) => !without.some((start) => block.startsWith(start))).join('\n');
  for (const [from, to] of Object.entries(replaced)) script = script.replaceAll(from, to);
  const child = spawn('bash', ['-e', '-c', script], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  assert.equal(code, 0, out + err);
  assert.doesNotMatch(out, /"code":\s?[45]\d\d/);
  return out;
}
