import { Command } from 'commander';
import { takenByNpm } from '../config/npm_options.ts';
import { StartupError } from '../errors.ts';
import { auditCommand } from './audit.ts';
import { CliError } from './command_error.ts';
import { dataCommands } from './data/commands.ts';
import { demoCommand } from './demo/demo.ts';
import { doctorCommand } from './doctor/doctor.ts';
import { eraseCommand } from './erase.ts';
import { keysCommand } from './keys.ts';
import { replayCommand } from './replay/replay.ts';
import { rpcCommand } from './rpc.ts';
import { searchCommand } from './search.ts';
import { sinksCommand } from './sinks.ts';
import { sourcesCommand } from './sources.ts';
import { supportBundleCommand } from './support/command.ts';
import { tailCommand } from './tail.ts';

/** Command-line tools of the hub. They use only its public API; those in data/ use its database. */
const program = new Command('hub')
  .description('Tools that use the public API of a running location hub, or its database data.dat')
  .addCommand(demoCommand())
  .addCommand(replayCommand())
  .addCommand(tailCommand())
  .addCommand(rpcCommand())
  .addCommand(searchCommand())
  .addCommand(sinksCommand())
  .addCommand(sourcesCommand())
  .addCommand(keysCommand())
  .addCommand(auditCommand())
  .addCommand(eraseCommand())
  .addCommand(doctorCommand())
  .addCommand(supportBundleCommand());
for (const command of dataCommands()) program.addCommand(command);

const [name = ''] = process.argv.slice(2);
const chosen = program.commands.find((command) => command.name() === name);
const options = [chosen, ...(chosen?.commands ?? [])].flatMap((command) => command?.options ?? []);
const names = options.flatMap(({ long }) => (long == null ? [] : [long.slice(2)]));

try {
  // Other npm scripts name the command themselves.
  const command = process.env['npm_lifecycle_event'] === 'hub' ? { command: name } : {};
  const [taken] = takenByNpm(process.env, { names, args: process.argv.slice(3), ...command });
  if (taken !== undefined) throw new CliError(taken);
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CliError || error instanceof StartupError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
