import { Command, Option } from 'commander';
import { AUDIT_KINDS, type AuditEntries, type AuditEntry } from '../model/audit.ts';
import { formatTime } from '../model/time.ts';
import { hubClient, parsedReply } from './hub_client.ts';
import { hubOption, interruption, time } from './options.ts';
import { printable } from './printable.ts';

const DAY_MS = 86_400_000;
const PAGE = 1000;

interface AuditOptions {
  readonly hub: string;
  readonly kind?: string;
  readonly id?: string;
  readonly subject?: string;
  /** In milliseconds since 1970. */
  readonly from?: number;
  /** In milliseconds since 1970, exclusive. */
  readonly to?: number;
  /** Whether entries are printed as JSON, with their patches. */
  readonly json?: boolean;
}

/**
 * `audit`: who changed what, when, and from where. Prints the entries of the audit log that the options select, oldest first, page
 * by page.
 */
export function auditCommand(): Command {
  return new Command('audit')
    .description('print changes of entities and settings with their authors, one per line')
    .addOption(new Option('--kind <kind>', 'only changes of that kind').choices(AUDIT_KINDS))
    .option('--id <id>', 'only changes of that id')
    .option('--subject <subject>', 'only changes by that subject of an access token')
    .option('--from <time>', 'RFC 3339 time from which changes are printed (default: a day ago)', time)
    .option('--to <time>', 'RFC 3339 time before which changes are printed', time)
    .option('--json', 'print each entry as JSON')
    .addOption(hubOption())
    .action(printAudit);
}

async function printAudit({ hub, json = false, ...selected }: AuditOptions): Promise<void> {
  const client = hubClient(hub, { signal: interruption() });
  const query = queryOf(selected, Date.now());
  for (let hasMore = true; hasMore; ) {
    const page = parsedReply(await client.send('GET', `/audit?${query}`)) as AuditEntries;
    for (const entry of page.entries) process.stdout.write(`${json ? JSON.stringify(entry) : lineOf(entry)}\n`);
    query.set('cursor', page.next);
    hasMore = page.has_more;
  }
}

/** Returns the parameters of the first page. */
function queryOf({ from, to, ...filters }: Omit<AuditOptions, 'hub' | 'json'>, nowMs: number): URLSearchParams {
  const query = new URLSearchParams({ ...filters, limit: String(PAGE) });
  query.set('from', formatTime(from ?? nowMs - DAY_MS));
  if (to !== undefined) query.set('to', formatTime(to));
  return query;
}

/**
 * Returns time, subject, address, transport, action, kind and id of an entry, separated by tabs; for an update also the changed
 * members. Without a subject or an address there is a hyphen.
 */
function lineOf({ time: at, kind, id, action, subject = '-', address = '-', via, patch = [] }: AuditEntry): string {
  const paths = action === 'update' ? patch.map(({ path }) => path).join(' ') : '';
  return [at, subject, address, via, action, kind, id, paths].map(printable).join('\t').trimEnd();
}
