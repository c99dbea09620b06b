import { Command, Option } from 'commander';
import type { Static } from 'typebox';
import type { ErasureReply } from '../model/history_replies.ts';
import type { Trackable } from '../model/trackable.ts';
import { formatTime } from '../model/time.ts';
import { CliError } from './command_error.ts';
import { type HubClient, hubClient, parsedReply } from './hub_client.ts';
import { hubOption, interruption, time } from './options.ts';
import { printable } from './printable.ts';

interface EraseOptions {
  readonly hub: string;
  /** In milliseconds since 1970. */
  readonly from?: number;
  /** In milliseconds since 1970, exclusive. */
  readonly to?: number;
  /** Whether the providers of a trackable are erased as well. */
  readonly providers?: boolean;
  readonly yes?: boolean;
}

type Kind = 'trackable' | 'provider';

/** `erase`: erases the history of a trackable or a provider at the hub. */
export function eraseCommand(): Command {
  const of = (kind: Kind): Command =>
    new Command(kind)
      .description(`erase the recorded positions and events of a ${kind}`)
      .argument('<id>', `id of the ${kind}`)
      .option('--from <time>', 'RFC 3339 time of the first row to erase; the oldest row by default', time)
      .option('--to <time>', 'RFC 3339 time before which rows are erased; the newest row by default', time)
      .addOption(new Option('--yes', 'confirm that the rows are lost for good').makeOptionMandatory())
      .addOption(hubOption())
      .action((id: string, options: EraseOptions) => erase(kind, id, options));
  return new Command('erase')
    .description('erase the history of an object, at all hubs of a cluster')
    .addCommand(of('trackable').option('--providers', 'also erase the history of the providers that it has now'))
    .addCommand(of('provider'));
}

async function erase(kind: Kind, id: string, options: EraseOptions): Promise<void> {
  const client = hubClient(options.hub, { signal: interruption() });
  const providers = options.providers === true ? await providersOf(client, id) : [];
  const incomplete = await eraseOne(client, `/${kind}s/${encodeURIComponent(id)}/history`, options);
  for (const provider of providers) {
    incomplete.push(...(await eraseOne(client, `/providers/${encodeURIComponent(provider)}/history`, options)));
  }
  if (incomplete.length > 0) throw new CliError([...new Set(incomplete)].join('\n'));
}

async function providersOf(client: HubClient, id: string): Promise<readonly string[]> {
  const trackable = parsedReply(await client.send('GET', `/trackables/${encodeURIComponent(id)}`)) as Trackable;
  return trackable.location_providers ?? [];
}

/** Erases the history of one object and prints the numbers of its rows. Returns why rows may remain. */
async function eraseOne(client: HubClient, path: string, { from, to }: EraseOptions): Promise<string[]> {
  const span = new URLSearchParams();
  if (from !== undefined) span.set('from', formatTime(from));
  if (to !== undefined) span.set('to', formatTime(to));
  const reply = await client.send('DELETE', span.size === 0 ? path : `${path}?${span}`);
  const erased = parsedReply(reply) as Static<typeof ErasureReply>;
  const { id, locations, motions, fence_events: fenceEvents, collision_events: collisions } = erased;
  process.stdout.write(
    `${printable(id)}: erased ${locations} locations, ${motions} motions, ${fenceEvents} fence events and ` +
      `${collisions} collision events\n`,
  );
  const { missing_hubs: missing = [], damaged_files: damaged } = erased;
  return [
    ...missing.map(
      (hub) => `Rows may remain at hub ${printable(hub)}, which did not reply: repeat the command when it is back`,
    ),
    ...(damaged === 0
      ? []
      : [`Rows may remain in ${damaged} files that cannot be read: the log of the hub names them`]),
  ];
}
