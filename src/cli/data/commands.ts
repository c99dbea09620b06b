import { Command } from 'commander';
import { backupCommand, restoreCommand } from './backups.ts';
import { checkCommand } from './check.ts';
import { exportCommand } from './export.ts';
import { importCommand } from './import.ts';
import { migrateCommand } from './migrate.ts';

/** The commands that work on data.dat itself: in the folder HUB_CONFIG_PATH, by default the current one. */
export function dataCommands(): Command[] {
  return [
    new Command('backup')
      .description('copy data.dat into a file of its own and check the copy; the hub may be running')
      .argument('<file>', 'where the copy goes')
      .option('--overwrite', 'replace the file if it exists')
      .action(backupCommand),
    new Command('restore')
      .description('put a backup in the place of data.dat, which is set aside; the hub must be stopped')
      .argument('<file>', 'the backup')
      .action(restoreCommand),
    new Command('check')
      .description('look through data.dat and say what is in it and whether it is sound; the hub may be running')
      .action(checkCommand),
    new Command('migrate')
      .description('bring data.dat up to the version of this hub, as its start does; the hub must be stopped')
      .option('--dry-run', 'try it on a copy and change nothing; the hub may be running')
      .action(migrateCommand),
    new Command('export')
      .description('write all entities into a JSON document; the hub may be running')
      .argument('<file>', 'where the document goes')
      .action(exportCommand),
    new Command('import')
      .description('create or replace the entities of a JSON document, all or none; the hub must be stopped')
      .argument('<file>', 'the document, as export writes it')
      .option('--replace', 'delete the entities that the document does not name')
      .action(importCommand),
  ];
}
