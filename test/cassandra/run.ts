import { temporaryFolder } from '../support/temporary_folder.ts';
import { CassandraProcess } from './cassandra_process.ts';
import { cassandraLibraries } from './libraries.ts';

/** Runs a Cassandra on 127.0.0.1 until it is stopped, and deletes its data. The argument is the port. */
async function main([port = '9042']: readonly string[]): Promise<void> {
  const libraries = cassandraLibraries();
  if ('missing' in libraries) throw new Error(`Cannot run Cassandra: ${libraries.missing}`);
  const folder = temporaryFolder();
  let stop = async (): Promise<void> => undefined;
  const end = (): void => void stop().then(() => process.exit(0));
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  console.log('Cassandra is starting …');
  const cassandra = await CassandraProcess.start({ libraries: libraries.folder, folder, port: Number(port) });
  stop = () => cassandra.stop();
  console.log(`Cassandra is running on 127.0.0.1:${cassandra.port}
  HUB_DB_TYPE=widecolumn HUB_WIDECOLUMN_PORT=${cassandra.port} npm start
Press Ctrl-C to stop.`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error((error as Error).message);
  process.exit(1);
});
