// The hubs run the bundles that users run, and start with half the CPU.
import '../stripped.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { natsProgram } from '../../bench/process/nats_program.ts';
import { NatsServers } from '../../bench/process/nats_server.ts';

/**
 * `npm run contract:cluster`: the contract tests and the clients in other languages, against two hubs that are one, each
 * request at the next of them; or the given test files.
 */
const ALL = ['test/contract/*.test.ts', 'test/clients/*.test.ts'];

const program = await natsProgram();
if ('missing' in program) {
  process.stderr.write(`There is no nats-server: ${program.missing}\n`);
  process.exit(1);
}
const nats = await NatsServers.start({ path: program.path });
const files = process.argv.length > 2 ? process.argv.slice(2) : ALL;
const child = spawn(process.execPath, ['--test', '--test-concurrency=2', '--test-timeout=300000', ...files], {
  env: { ...process.env, TEST_CLUSTER_SERVERS: nats.addresses.join(',') },
  stdio: 'inherit',
});
const [code] = await once(child, 'close');
await nats.stop();
process.exit(code ?? 1);
