import { Command } from 'commander';
import { CommandError } from './command_error.ts';
import { demoCommand } from './demo/command.ts';
import { replayCommand } from './replay/command.ts';
import { tailCommand } from './tail.ts';

/** The commands beside the hub itself. They use its public API alone. */
const program = new Command('hub')
  .description('Commands that work with a running location hub, through its public API')
  .addCommand(demoCommand())
  .addCommand(replayCommand())
  .addCommand(tailCommand());

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
