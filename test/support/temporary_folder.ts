import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/**
 * Creates a temporary folder, which is deleted when the process exits. The `after` hooks of a test run in the order of their
 * registration, so a hook that deletes the folder would run before the one that closes a hub opened in it.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hub-test-'));
  folders.push(folder);
  return folder;
}
