import { Command } from 'commander';
import type { ApiKey } from '../model/api_key.ts';
import { formatTime } from '../model/time.ts';
import { CliError } from './command_error.ts';
import { hubClient, parsedReply } from './hub_client.ts';
import { hubOption, interruption, time } from './options.ts';
import { printable } from './printable.ts';

/** `keys list`, `keys create`, `keys revoke` and `keys delete`: API keys of clients. */
export function keysCommand(): Command {
  const list = new Command('list')
    .description('print the API keys with their states and roles, one per line')
    .addOption(hubOption())
    .action(listKeys);
  const create = new Command('create')
    .description('create an API key and print it; it cannot be printed again')
    .argument('<name>', 'name of the key, such as that of the client')
    .requiredOption('--role <roles...>', 'roles of permissions.yaml')
    .option('--expires <time>', 'time when the key expires, such as 2027-03-01T10:00:00Z; never by default', time)
    .option(
      '--offline',
      'write the key to the data of the hub that would start here, which needs no token; the hub must be stopped, ' +
        'unless it is in a cluster',
    )
    .addOption(hubOption())
    .action(createKey);
  const revoke = new Command('revoke')
    .description('revoke an API key, which remains in the list')
    .argument('<id>', 'id of the key')
    .addOption(hubOption())
    .action(revokeKey);
  const remove = new Command('delete')
    .description('delete an API key')
    .argument('<id>', 'id of the key')
    .addOption(hubOption())
    .action(deleteKey);
  return new Command('keys')
    .description('list, create, revoke and delete API keys')
    .addCommand(list)
    .addCommand(create)
    .addCommand(revoke)
    .addCommand(remove);
}

async function listKeys({ hub }: { hub: string }): Promise<void> {
  const client = hubClient(hub, { signal: interruption() });
  const nowMs = Date.now();
  for (const key of parsedReply(await client.send('GET', '/keys')) as readonly ApiKey[]) {
    process.stdout.write(`${[key.id, key.name, stateOf(key, nowMs), key.roles.join(' ')].map(printable).join('\t')}\n`);
  }
}

function stateOf({ expires_at: expiry, revoked_at: revoked }: ApiKey, nowMs: number): string {
  if (revoked != null) return `revoked ${revoked}`;
  if (expiry == null) return 'valid';
  return Date.parse(expiry) <= nowMs ? `expired ${expiry}` : `valid until ${expiry}`;
}

interface CreateOptions {
  readonly hub: string;
  readonly role: readonly string[];
  /** Milliseconds since 1970. */
  readonly expires?: number;
  readonly offline?: boolean;
}

/** Prints only the key to the standard output, so that scripts can read it. */
async function createKey(name: string, { hub, role, expires, offline }: CreateOptions): Promise<void> {
  const body = { name, roles: role, ...(expires !== undefined && { expires_at: formatTime(expires) }) };
  if (offline === true) {
    const { createOfflineKey } = await import('./data/offline_key.ts');
    process.stdout.write(`${await createOfflineKey(body)}\n`);
    return;
  }
  const client = hubClient(hub, { signal: interruption() });
  const { key } = parsedReply(await client.send('POST', '/keys', body)) as ApiKey;
  process.stdout.write(`${key}\n`);
}

async function revokeKey(id: string, { hub }: { hub: string }): Promise<void> {
  const client = hubClient(hub, { signal: interruption() });
  const { name } = parsedReply(await client.send('POST', `${pathOf(id)}/revoke`)) as ApiKey;
  process.stdout.write(`The key "${name}" is revoked\n`);
}

async function deleteKey(id: string, { hub }: { hub: string }): Promise<void> {
  const client = hubClient(hub, { signal: interruption() });
  const { ok, status, message } = await client.send('DELETE', pathOf(id));
  if (!ok) throw new CliError(`The hub rejects the request: ${message} (${status})`);
  process.stdout.write(`The key ${id} is deleted\n`);
}

function pathOf(id: string): string {
  return `/keys/${encodeURIComponent(id)}`;
}
