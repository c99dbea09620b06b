import { signal } from '@preact/signals';
import type { Import } from '../../model/import.ts';
import { request } from './rest.ts';

/**
 * The current or last import of the hub. It runs independently of the page, which polls its progress until it is finished
 * and again whenever the user returns.
 */
export const importJob = signal<Import | undefined>(undefined);

const POLL_MS = 300;

/** Request body of an import: entities by the names of their lists, and rules. */
export interface ImportBody {
  readonly format: 'location-hub-entities';
  readonly version: 1;
  readonly [list: string]: unknown;
}

export interface ImportOrder {
  readonly isDry: boolean;
  readonly deletes: Deletions;
}

/** Deletions of an import. All are off by default. */
export interface Deletions {
  /** Entities that are missing in the file, of the kinds that it contains. */
  readonly others: boolean;
  /** Values of the listed entities that the format supports and the file omits. */
  readonly members: boolean;
}

/** Returns whether an import is running. */
export function isInProgress(job: Import | undefined): job is Import {
  return job !== undefined && job.state !== 'idle' && job.ended_at === undefined;
}

/** Starts an import and resolves when it has finished. Throws a RequestError if the hub rejects it. */
export async function runImport(body: ImportBody, { isDry, deletes }: ImportOrder): Promise<Import> {
  const query = { dry_run: isDry, delete_others: deletes.others, delete_members: deletes.members };
  // Clear the result of the previous import.
  importJob.value = undefined;
  importJob.value = await request<Import>('POST', '/import', { query, body });
  return await watchImport();
}

/** Polls the import until it has finished. Includes imports of other users. */
export async function watchImport(): Promise<Import> {
  for (;;) {
    const job = await request<Import>('GET', '/import');
    importJob.value = job;
    if (!isInProgress(job)) return job;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Cancels the running import. Throws a RequestError if it is too late. */
export async function cancelImport(): Promise<void> {
  await request('DELETE', '/import');
}
