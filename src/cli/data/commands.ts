import { Command, Option } from 'commander';
import { HISTORY_TOPICS } from '../../model/history.ts';
import { hubOption, number, speed, time } from '../options.ts';
import { EXPORT_FORMATS, type ExportOptions, type PruneOptions } from './history_options.ts';
import { isPositionFile, type PositionOptions } from './position_options.ts';

/**
 * Commands for data.dat, or for the data of a cluster. They read the configuration in the folder HUB_CONFIG_PATH, by
 * default the current one. Each is loaded on demand, since the database has binaries that other commands do not need.
 */
export function dataCommands(): Command[] {
  return [
    new Command('backup')
      .description('copy data.dat to a file and check the copy; the hub may be running')
      .argument('<file>', 'path of the copy')
      .option('--overwrite', 'replace the file if it exists')
      .action(async (...given: [string, { overwrite?: boolean }]) =>
        (await import('./database.ts')).backupCommand(...given),
      ),
    new Command('restore')
      .description('replace data.dat by a backup, and rename the old file; the hub must be stopped')
      .argument('<file>', 'the backup')
      .action(async (file: string) => (await import('./database.ts')).restoreCommand(file)),
    new Command('check')
      .description('check the integrity of data.dat and print its contents; the hub may be running')
      .action(async () => (await import('./database.ts')).checkCommand()),
    new Command('migrate')
      .description('migrate data.dat to the version of this hub, as its start does; the hub must be stopped')
      .option('--dry-run', 'migrate a copy and change nothing; the hub may be running')
      .action(async (options: { dryRun?: boolean }) => (await import('./database.ts')).migrateCommand(options)),
    new Command('export')
      .description('export all entities to a JSON document; the hub may be running')
      .argument('<file>', 'path of the document')
      .action(async (file: string) => (await import('./export.ts')).exportCommand(file)),
    new Command('import')
      .description(
        'create or update the entities of a JSON document, all or none; the hub must be stopped, unless it is in a cluster. ' +
          'Positions of a .csv, .ndjson or .parquet file are sent to a running hub instead, or written to the history of a stopped one',
      )
      .argument('<file>', 'a document in the format of export, or a file of positions')
      .option('--replace', 'delete entities and members that are missing in the document')
      .option('--id <column>', 'positions: column with the id of the provider; default id')
      .option('--x <column>', 'positions: column with the longitude, easting or local x; default x')
      .option('--y <column>', 'positions: column with the latitude, northing or local y; default y')
      .option('--z <column>', 'positions: column with the height')
      .option('--time <column>', 'positions: column with the time; default time')
      .addOption(
        new Option('--time-unit <unit>', 'positions: unit of the time').choices(['iso', 's', 'ms']).default('iso'),
      )
      .option(
        '--time-zone <zone>',
        'positions: time zone of times without an offset, such as Europe/Berlin; default UTC',
      )
      .option('--crs <crs>', 'positions: coordinate reference system, unless --zone is given', 'EPSG:4326')
      .option('--zone <id>', 'positions: zone of local coordinates, by its id or foreign id')
      .option('--type <type>', 'positions: type of the providers', 'unknown')
      .option('--map <file>', 'positions: JSON file with the map of a data source, instead of the columns')
      .option('--make-trackables', 'positions: create a trackable for each provider without one')
      .option('--into-history', 'positions: write them to the history of a stopped hub, without fence events')
      .option(
        '--speed <factor>',
        'positions: multiple of the recorded speed; 0 or max: as fast as possible',
        speed,
        speed('max'),
      )
      .option(
        '--batch <count>',
        'positions: maximum locations per request',
        number({ min: 1, max: 10_000, whole: true }),
        256,
      )
      .addOption(hubOption())
      .action(async (file: string, options: PositionOptions & { readonly replace?: boolean }) => {
        if (isPositionFile(file)) await (await import('./positions.ts')).importPositions(file, options);
        else await (await import('./import.ts')).importCommand(file, options);
      }),
    historyCommand(),
  ];
}

function historyCommand(): Command {
  return new Command('history')
    .description('inspect, export and prune the history files')
    .addCommand(
      new Command('info')
        .description('print the number and time range of the rows, and damaged files; the hub may be running')
        .action(async () => (await import('./history_info.ts')).historyInfoCommand()),
    )
    .addCommand(
      new Command('export')
        .description('export the rows of a time range to a file; the hub may be running')
        .requiredOption('--out <file>', 'path of the file')
        .addOption(new Option('--topic <topic>', 'topic of the rows').choices(HISTORY_TOPICS).default('locations'))
        .option('--from <time>', 'start of the time range, such as 2026-03-01T10:00:00Z', time)
        .option('--to <time>', 'end of the time range, exclusive', time)
        .addOption(
          new Option('--format <format>', 'format of the file; default: its extension').choices(EXPORT_FORMATS),
        )
        .option('--force', 'replace the file if it exists')
        .option(
          '--pseudonymize [key-file]',
          'replace ids of objects by pseudonyms, and omit properties; exports with the same key file have the same pseudonyms',
        )
        .action(async (options: ExportOptions) => (await import('./history_export.ts')).historyExportCommand(options)),
    )
    .addCommand(
      new Command('prune')
        .description('delete whole hours, the earliest first; the hub must be stopped, unless with --dry-run')
        .option('--before <time>', 'delete hours that end by this time', time)
        .option('--max-size <MiB>', 'delete until the rest has at most this size', number({ min: 0, whole: true }))
        .option('--dry-run', 'print what would be deleted, and delete nothing')
        .option(
          '--stopped',
          'assert that the hub is stopped, if its data is in another database, where the command cannot check',
        )
        .action(async (options: PruneOptions) => (await import('./history_prune.ts')).historyPruneCommand(options)),
    );
}
