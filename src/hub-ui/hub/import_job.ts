import { signal } from '@preact/signals';
import type { Import } from '../../model/import.ts';
import { request } from './rest.ts';

/**
 * The import that the hub is at, or was at last. It goes on whoever looks: the page asks how far it is as long as it is under
 * way, and again when somebody comes back to it.
 */
export const importJob = signal<Import | undefined>(undefined);

const POLL_MS = 300;

/** Entities by the names of their lists, and rules, as the hub takes them. */
export interface ImportBody {
  readonly format: 'location-hub-entities';
  readonly version: 1;
  readonly [list: string]: unknown;
}

export interface ImportOrder {
  readonly isDry: boolean;
  readonly deletes: Deletions;
}

/** What an import deletes, each by choice only. */
export interface Deletions {
  /** Entities that the file does not name, of the kinds that it has. */
  readonly others: boolean;
  /** Values of the named entities that the file could have and does not. */
  readonly members: boolean;
}

/** Whether an import is neither over nor yet to come. */
export function isInProgress(job: Import | undefined): job is Import {
  return job !== undefined && job.state !== 'idle' && job.ended_at === undefined;
}

/** Begins an import, and resolves when it is over. Throws a RequestError where the hub does not take it. */
export async function runImport(body: ImportBody, { isDry, deletes }: ImportOrder): Promise<Import> {
  const query = { dry_run: isDry, delete_others: deletes.others, delete_members: deletes.members };
  // The one before says nothing of this one.
  importJob.value = undefined;
  importJob.value = await request<Import>('POST', '/import', { query, body });
  return await watchImport();
}

/** Reads how far the import is until it is over; once, where there is none. One that is another's is shown as well. */
export async function watchImport(): Promise<Import> {
  for (;;) {
    const job = await request<Import>('GET', '/import');
    importJob.value = job;
    if (!isInProgress(job)) return job;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Ends the import that is under way. Throws a RequestError once it is too late for that. */
export async function cancelImport(): Promise<void> {
  await request('DELETE', '/import');
}
