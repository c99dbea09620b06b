import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestHub } from '../../support/running_hub.ts';
import { temporaryFolder } from '../../support/temporary_folder.ts';

/** Expected results of the walk in every language: each makes the same calls with its generated client. */
const SEEN = {
  zone: 'Hall',
  motions: ['Vehicle', 'Polygon'],
  motionFeatures: ['Polygon'],
  locations: ['tag-1', 20.25],
  fenceFeatures: ['Polygon'],
  fence: ['Dock', 5],
  inside: 'Vehicle',
  renamed: 'Vehicle 7',
  patched: 'A',
  providers: ['tag-1', 'uwb'],
  sensors: { battery: 0.5 },
  notFound: [404, 'Cannot find zone "nothing": no zone has that id'],
  refused: [400, 'radius: must be >= 0, found -1'],
};

/** The documents by version and file. */
export const DOCUMENTS = ['v1/openapi.json', 'v1/openapi-3.0.json', 'v2/openapi.json', 'v2/openapi-3.0.json'] as const;

/** Folder in which the walks of a language are written and run, with the documents of the hub. */
export interface Workshop {
  readonly folder: string;
  /** Path of a document's file. */
  document(name: (typeof DOCUMENTS)[number]): string;
  close(): Promise<void>;
}

export async function openWorkshop(hub: TestHub): Promise<Workshop> {
  const folder = temporaryFolder();
  const fileOf = (name: string) => join(folder, name.replace('/', '-'));
  for (const name of DOCUMENTS) {
    const { status, text } = await hub.get(`${hub.origin}/hub/${name}`);
    assert.equal(status, 200);
    await writeFile(fileOf(name), text);
  }
  return { folder, document: fileOf, close: () => rm(folder, { recursive: true, force: true }) };
}

/** Fails unless the last line of output of a walk has the expected results. */
export function assertSeen(printed: string): void {
  const line = printed.trimEnd().split('\n').at(-1) ?? '';
  const { locations, ...seen } = JSON.parse(line) as typeof SEEN;
  const [provider, x] = locations as [string, number];
  assert.ok(Math.abs(x - 20.25) < 1e-6, `the position was returned as ${x}`);
  assert.deepEqual({ ...seen, locations: [provider, 20.25] }, SEEN);
}
