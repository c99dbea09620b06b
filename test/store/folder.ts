import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Creates a temporary folder, which is deleted after the test. */
export function folderFor(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'hub-store-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
