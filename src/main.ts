import { availableParallelism } from 'node:os';
import { loadConfig, readConfigFile } from './config/load.ts';
import { StartupError } from './errors.ts';
import { type Hub, openHub } from './hub/hub.ts';
import { openLog } from './hub/log.ts';

/** Starts the hub from its configuration, says where it is, and stops it on a signal. */
async function main(): Promise<void> {
  const warnings: [message: string, facts: object][] = [];
  const config = loadConfig({
    env: process.argv.includes('--accept-loss') ? { ...process.env, HUB_ACCEPT_LOSS: 'true' } : process.env,
    cwd: process.cwd(),
    cores: availableParallelism(),
    readFile: readConfigFile,
    warn: (...warning) => warnings.push(warning),
  });
  const log = openLog(config.severity_level);
  for (const [message, facts] of warnings) log.warn(message, facts);
  const open = (): Promise<Hub> => {
    return openHub(config, log).catch((error: unknown) => {
      log.debug('The start has failed', { stack: String((error as Error).stack ?? error) });
      throw error;
    });
  };
  let hub = await open();
  const address = `${config.host.includes(':') ? `[${config.host}]` : config.host}:${hub.port}`;
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    hub.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error('The hub could not stop in order', { error: String(error) });
        process.exit(1);
      },
    );
  };
  // A hub that is out of its cluster joins it anew, as another one would.
  const beginAnew = async (error: Error): Promise<void> => {
    if (stopping) return;
    log.error('This hub is out of its cluster, and joins it anew', { error: error.message });
    await hub.close();
    if (stopping) return;
    hub = await open();
    follow();
  };
  const follow = (): void => {
    hub.isOut.then(beginAnew).catch((error: unknown) => {
      log.error('The hub could not join its cluster anew', { error: String(error) });
      process.exit(1);
    });
  };
  follow();
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  // Without a certificate the signal ends the hub, as it does when its terminal is closed.
  if (hub.isSecure) process.on('SIGHUP', () => void hub.renewCertificate());
  const [http, ws] = hub.isSecure ? ['https', 'wss'] : ['http', 'ws'];
  // Whoever has read this may send a signal at once.
  process.stdout.write(
    `Location hub is running
  API        ${http}://${address}/hub/v2
  WebSocket  ${ws}://${address}/hub/v2/ws/socket
  Docs       ${http}://${address}/hub/docs
  Web UI     ${http}://${address}/hub-ui
Press Ctrl-C to stop.
`,
  );
}

main().catch((error: unknown) => {
  // What the user can mend is one plain line each. Anything else is a fault of the hub: Debug shows where it is.
  const fault = (): string => `Cannot start the hub: ${String((error as Error).message ?? error).split('\n', 1)}`;
  process.stderr.write(`${error instanceof StartupError ? error.message : fault()}\n`);
  process.exit(1);
});
