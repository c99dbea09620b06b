import { availableParallelism } from 'node:os';
import { asksForHelp } from './config/arguments.ts';
import { loadConfig, readConfigFile } from './config/load.ts';
import { usageText } from './config/text.ts';
import { StartupError } from './errors.ts';
import { type Hub, openHub } from './hub/hub.ts';
import { openLog } from './hub/log.ts';
import { schedule } from './time/clock.ts';

/** Delay before a hub that could not rejoin its cluster retries. */
const AGAIN_MS = 1000;

/** Starts the hub from its configuration, prints its address, and stops it on a signal. */
async function main(args: readonly string[]): Promise<void> {
  if (asksForHelp(args)) {
    process.stdout.write(usageText());
    return;
  }
  const warnings: [message: string, facts: object][] = [];
  const config = loadConfig({
    env: process.env,
    args,
    cwd: process.cwd(),
    cores: availableParallelism(),
    readFile: readConfigFile,
    warn: (...warning) => warnings.push(warning),
  });
  const log = openLog(config.severity_level);
  for (const [message, facts] of warnings) log.warn(message, facts);
  const open = (port: number): Promise<Hub> => {
    return openHub({ ...config, port }, log).catch((error: unknown) => {
      log.debug('The start has failed', { stack: String((error as Error).stack ?? error) });
      throw error;
    });
  };
  let hub = await open(config.port);
  const address = `${config.host.includes(':') ? `[${config.host}]` : config.host}:${hub.port}`;
  let stopping = false;
  let begunAnew = Promise.resolve();
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    const stopped = begunAnew.then(() => hub.close());
    stopped.then(
      () => process.exit(0),
      (error: unknown) => {
        log.error('The hub could not stop in order', { error: String(error) });
        process.exit(1);
      },
    );
  };
  // A hub that is out of its cluster rejoins it, with retries until it succeeds.
  const beginAnew = async (error: Error): Promise<void> => {
    if (stopping) return;
    log.error('This hub is out of its cluster, and rejoins it', { error: error.message });
    const { port } = hub;
    await hub.close();
    while (!stopping) {
      try {
        hub = await open(port);
        log.info('This hub is in its cluster again');
        return follow();
      } catch (failure) {
        log.error('The hub could not rejoin its cluster and will retry', { error: String(failure) });
        await new Promise<void>((resolve) => schedule(AGAIN_MS, resolve));
      }
    }
  };
  const follow = (): void => {
    void hub.isOut.then((error) => {
      begunAnew = beginAnew(error).catch((failure: unknown) => {
        log.error('A hub that was out of its cluster could not stop in order', { error: String(failure) });
        process.exit(1);
      });
    });
  };
  follow();
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  // Without a certificate, the signal terminates the hub, as when its terminal is closed.
  if (hub.isSecure) process.on('SIGHUP', () => void hub.renewCertificate());
  const [http, ws] = hub.isSecure ? ['https', 'wss'] : ['http', 'ws'];
  // Signal handlers must be installed before, since a reader of this line may send a signal immediately.
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

main(process.argv.slice(2)).catch((error: unknown) => {
  // User errors are one plain line each. Anything else is an internal error, with its stack at log level Debug.
  const fault = (): string => `Cannot start the hub: ${String((error as Error).message ?? error).split('\n', 1)}`;
  process.stderr.write(`${error instanceof StartupError ? error.message : fault()}\n`);
  process.exit(1);
});
