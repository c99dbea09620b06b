import { Command, Option } from 'commander';
import { HISTORY_TOPICS } from '../../model/history.ts';
import { number, time } from '../options.ts';
import { EXPORT_FORMATS, type ExportOptions, type PruneOptions } from './history_options.ts';

/**
 * Commands that work on data.dat, or on the data of a cluster, by the configuration in the folder HUB_CONFIG_PATH, by
 * default the current one. Each is loaded on demand: the database has binaries that other commands do not need.
 */
export function dataCommands(): Command[] {
  return [
    new Command('backup')
      .description('copy data.dat into a file of its own and check the copy; the hub may be running')
      .argument('<file>', 'where the copy goes')
      .option('--overwrite', 'replace the file if it exists')
      .action(async (...given: [string, { overwrite?: boolean }]) =>
        (await import('./database.ts')).backupCommand(...given),
      ),
    new Command('restore')
      .description('put a backup in the place of data.dat, which is set aside; the hub must be stopped')
      .argument('<file>', 'the backup')
      .action(async (file: string) => (await import('./database.ts')).restoreCommand(file)),
    new Command('check')
      .description('look through data.dat and say what is in it and whether it is sound; the hub may be running')
      .action(async () => (await import('./database.ts')).checkCommand()),
    new Command('migrate')
      .description('bring data.dat up to the version of this hub, as its start does; the hub must be stopped')
      .option('--dry-run', 'try it on a copy and change nothing; the hub may be running')
      .action(async (options: { dryRun?: boolean }) => (await import('./database.ts')).migrateCommand(options)),
    new Command('export')
      .description('write all entities into a JSON document; the hub may be running')
      .argument('<file>', 'where the document goes')
      .action(async (file: string) => (await import('./export.ts')).exportCommand(file)),
    new Command('import')
      .description(
        'create the entities of a JSON document, or change the members that it has of them, all or none; the hub must be stopped, unless it is in a cluster',
      )
      .argument('<file>', 'the document, as export writes it')
      .option(
        '--replace',
        'delete the entities that the document does not name, and members of others that it does not have',
      )
      .action(async (...given: [string, { replace?: boolean }]) =>
        (await import('./import.ts')).importCommand(...given),
      ),
    historyCommand(),
  ];
}

function historyCommand(): Command {
  return new Command('history')
    .description('what is in the files of the history')
    .addCommand(
      new Command('info')
        .description('say how many rows of what time there are, and which files are damaged; the hub may be running')
        .action(async () => (await import('./history_info.ts')).historyInfoCommand()),
    )
    .addCommand(
      new Command('export')
        .description('write the rows of a span of time into one file; the hub may be running')
        .requiredOption('--out <file>', 'where they go')
        .addOption(new Option('--topic <topic>', 'which rows').choices(HISTORY_TOPICS).default('locations'))
        .option('--from <time>', 'the first that is written, as 2026-03-01T10:00:00Z', time)
        .option('--to <time>', 'the first that is not written any more', time)
        .addOption(
          new Option('--format <format>', 'of the file; by default what its name ends in').choices(EXPORT_FORMATS),
        )
        .option('--force', 'replace the file if it exists')
        .action(async (options: ExportOptions) => (await import('./history_export.ts')).historyExportCommand(options)),
    )
    .addCommand(
      new Command('prune')
        .description('delete whole hours, the earliest first; the hub must be stopped, unless with --dry-run')
        .option('--before <time>', 'hours that end by this time', time)
        .option('--max-size <MiB>', 'until the rest takes no more', number({ min: 0, whole: true }))
        .option('--dry-run', 'say what would go, and delete nothing')
        .option('--stopped', 'the hub is stopped: for one whose data is in another database, where that cannot be seen')
        .action(async (options: PruneOptions) => (await import('./history_prune.ts')).historyPruneCommand(options)),
    );
}
