import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Probe } from './probe.ts';
import { CannotRun, type HubSlot, RunningCluster } from './running_cluster.ts';
import { Screen } from './screen.ts';

const CLI = fileURLToPath(new URL('../../src/cli/cli.ts', import.meta.url));
const API = '/hub/v2';
/** Time after which a takeover counts as failed. */
const TAKEOVER_MS = 30_000;
const RATE_MS = 1000;
const KEYS = 'k kill an owner   s stop or continue it   n kill a NATS server   r restart what was killed   q quit';

interface Options {
  readonly hubs: number;
  readonly nats: 1 | 3;
  readonly port: number;
  readonly demo: boolean;
  /** Kills a hub that owns objects after this time, and ends. */
  readonly killAfterMs: number | undefined;
}

/** `npm run cluster`: NATS servers, hubs and a balancer on this machine, with the demo, and keys to break what runs. */
async function main(args: readonly string[]): Promise<number> {
  const options = optionsOf(args);
  const session = new Session(options);
  const ended = Promise.withResolvers<number>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ended.resolve(0));
  try {
    const run = session.run(ended.resolve);
    // A session that is ended early ignores the result.
    run.catch(() => undefined);
    return await Promise.race([run, ended.promise]);
  } finally {
    await session.close();
  }
}

/** One run of the command. */
class Session {
  readonly #options: Options;
  readonly #screen: Screen;
  #cluster: RunningCluster | undefined;
  #probe: Probe | undefined;
  #demo: ChildProcess | undefined;
  #rate: NodeJS.Timeout | undefined;
  readonly #processed = new Map<string, { count: number; atMs: number }>();
  #perSecond = 0;
  #lastTakeover = 'none yet';
  #isBusy = false;
  #isClosing = false;

  constructor(options: Options) {
    this.#options = options;
    this.#screen = new Screen(process.stdout, { lines: () => this.#lines(), line: () => this.#line() });
  }

  /** Resolves with the exit code. */
  async run(end: (code: number) => void): Promise<number> {
    const { hubs, nats, port, demo, killAfterMs } = this.#options;
    const stage = (text: string): void => this.#screen.print(text);
    const changed = (): void => this.#screen.changed();
    await RunningCluster.start({ hubs, nats, port, stage, changed }, (cluster) => {
      this.#cluster = cluster;
    });
    const { address } = this.#running;
    stage(`The cluster is running
  API        ${address}${API}
  Web UI     ${address}/hub-ui`);
    this.#probe = new Probe(address + API);
    await this.#answered();
    changed();
    if (demo) this.#startDemo(address);
    this.#rate = setInterval(() => void this.#measure(), RATE_MS);
    if (killAfterMs !== undefined) {
      await delay(killAfterMs);
      return (await this.#killOwner()) ? 0 : 1;
    }
    if (process.stdin.isTTY) this.#hearKeys(end);
    else stage('Ctrl-C or SIGTERM ends it');
    return new Promise(() => undefined);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#rate);
    if (process.stdin.isTTY) process.stdin.setRawMode(false).pause();
    this.#screen.close();
    await this.#probe?.stop();
    if (this.#demo !== undefined && this.#demo.exitCode === null && this.#demo.signalCode === null) {
      const ended = once(this.#demo, 'exit');
      this.#demo.kill('SIGKILL');
      await ended;
    }
    await this.#cluster?.close();
  }

  get #running(): RunningCluster {
    if (this.#cluster === undefined) throw new Error('The cluster is not running yet');
    return this.#cluster;
  }

  #startDemo(address: string): void {
    const child = spawn(process.execPath, [CLI, 'demo', '--hub', address], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#demo = child;
    let said = '';
    child.stderr.on('data', (text: Buffer) => {
      said = (said + text).slice(-1000);
    });
    child.once('exit', () => {
      if (!this.#isClosing) this.#screen.print(`The demo has ended: ${said.trim().split('\n').at(-1)}`);
    });
  }

  #hearKeys(end: (code: number) => void): void {
    process.stdin.setRawMode(true).on('data', (typed: Buffer) => {
      for (const key of typed.toString()) {
        if (key === 'q' || key === '\x03') end(0);
        else void this.#press(key);
      }
    });
  }

  /** Keys pressed during a command are ignored. */
  async #press(key: string): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      if (key === 'k') await this.#killOwner();
      if (key === 's') await this.#stopOrContinue();
      if (key === 'n')
        this.#screen.print(`Killed NATS server ${(await this.#running.killServer()) ?? 'none: none runs'}`);
      if (key === 'r')
        this.#screen.print(`Started again: ${(await this.#running.restart()).join(', ') || 'nothing was killed'}`);
    } catch (error) {
      if (!this.#isClosing) this.#screen.print((error as Error).message);
    } finally {
      this.#isBusy = false;
    }
  }

  /** Kills a hub that owns objects, and prints the outcome. Returns whether others took over and nothing was lost. */
  async #killOwner(): Promise<boolean> {
    const owner = await this.#owner();
    if (owner === undefined) return false;
    const pid = owner.process?.pid;
    const partitions = this.#partitionsOf(owner.name);
    const killed = this.#running.killHub(owner);
    const answered = this.#answered();
    this.#screen.print(`Killed ${owner.name}, which owned ${partitions} of 256 partitions (process ${pid})`);
    await killed;
    return this.#takenOver(owner, answered);
  }

  async #stopOrContinue(): Promise<void> {
    const stopped = this.#running.hubs.find(({ isStopped }) => isStopped);
    const hub = stopped ?? (await this.#owner());
    if (hub === undefined) return;
    const partitions = this.#partitionsOf(hub.name);
    this.#running.stopOrContinue(hub);
    const which = `Stopped ${hub.name}, which owned ${partitions} of 256 partitions`;
    this.#screen.print(stopped === undefined ? which : `${hub.name} goes on`);
    if (stopped === undefined) await this.#takenOver(hub, this.#answered());
  }

  /** A hub that owns objects and has a possible successor. */
  async #owner(): Promise<HubSlot | undefined> {
    const { owner, hubs } = this.#running;
    if (owner === undefined) this.#screen.print('No hub owns anything at the moment');
    else if (!hubs.some(({ process, isStopped, name }) => process !== undefined && !isStopped && name !== owner.name)) {
      this.#screen.print('No other hub runs: r starts what was killed');
      return undefined;
    }
    return owner;
  }

  async #takenOver(former: HubSlot, answered: Promise<number | undefined>): Promise<boolean> {
    const probe = this.#probe as Probe;
    const tookMs = await answered;
    if (tookMs === undefined) {
      this.#screen.print(`Not all locations were answered within ${TAKEOVER_MS / 1000} s`);
      return false;
    }
    this.#lastTakeover = `from ${former.name}, all locations answered after ${seconds(tookMs)}`;
    this.#screen.print(`All locations are answered again after ${seconds(tookMs)}`);
    const { committed, lost } = await probe.compare();
    if (lost.length === 0)
      this.#screen.print(`Nothing acknowledged was lost: ${committed} of ${committed} providers compared`);
    else this.#screen.print(`LOST: ${lost.join('; ')}`);
    return lost.length === 0;
  }

  /** Milliseconds until all locations sent from now on are acknowledged; undefined if that takes too long. */
  #answered(): Promise<number | undefined> {
    const late = delay(TAKEOVER_MS, undefined, { ref: false });
    return Promise.race([(this.#probe as Probe).answered(), late]);
  }

  /** Adds up the locations that the hubs have processed since the last call. */
  async #measure(): Promise<void> {
    let perSecond = 0;
    for (const { name, port, process, isStopped } of this.#running.hubs) {
      const count = process === undefined || isStopped ? undefined : await processedBy(port);
      const before = this.#processed.get(name);
      const atMs = performance.now();
      if (count === undefined) this.#processed.delete(name);
      else this.#processed.set(name, { count, atMs });
      if (count === undefined || before === undefined || count < before.count) continue;
      perSecond += ((count - before.count) * 1000) / (atMs - before.atMs);
    }
    this.#perSecond = Math.round(perSecond);
  }

  #lines(): readonly string[] {
    const cluster = this.#cluster;
    if (cluster?.view === undefined) return [];
    return [
      '',
      ...cluster.hubs.map((hub) => `  ${hub.name}       port ${hub.port}, ${this.#stateOf(hub)}`),
      `  NATS        ${serversOf(cluster)}`,
      `  Locations   ${this.#perSecond}/s`,
      `  Takeover    ${this.#lastTakeover}`,
      ...(process.stdin.isTTY ? [`  ${KEYS}`] : []),
    ];
  }

  #line(): string {
    const cluster = this.#cluster;
    if (cluster?.view === undefined) return '';
    return `${cluster.hubs.map((hub) => `${hub.name} ${this.#stateOf(hub)}`).join('; ')}; NATS ${serversOf(cluster)}`;
  }

  #stateOf({ name, process, isStopped }: HubSlot): string {
    const { members = [], isSettled = false } = this.#running.view ?? {};
    if (process === undefined) return members.includes(name) ? 'killed, still a member' : 'killed';
    if (isStopped) return members.includes(name) ? 'stopped, still a member' : 'stopped';
    if (!members.includes(name)) return 'joins';
    const partitions = this.#partitionsOf(name);
    if (partitions === 0) return 'forwards';
    return `owns ${partitions} of 256 partitions${isSettled ? '' : ', some on their way'}`;
  }

  #partitionsOf(hub: string): number {
    return (this.#running.view?.owners ?? []).filter((owner) => owner === hub).length;
  }
}

function serversOf({ servers }: RunningCluster): string {
  return servers.map(({ name, isKilled }) => (isKilled ? `${name} killed` : name)).join(', ');
}

async function processedBy(port: number): Promise<number | undefined> {
  const signal = AbortSignal.timeout(RATE_MS);
  const text = await fetch(`http://127.0.0.1:${port}/metrics`, { signal })
    .then((response) => response.text())
    .catch(() => '');
  const [, count] = /^hub_locations_processed_total (\d+)/m.exec(text) ?? [];
  return count === undefined ? undefined : Number(count);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function optionsOf(args: readonly string[]): Options {
  const { values } = parsed(args);
  const nats = numberOf('--nats', values.nats, { min: 1, max: 3 });
  if (nats !== 1 && nats !== 3) throw new CannotRun(`--nats must be 1 or 3, found ${values.nats}`);
  const killAfter = values['kill-after'];
  return {
    hubs: numberOf('--hubs', values.hubs, { min: killAfter === undefined ? 1 : 2, max: 8 }),
    nats,
    port: numberOf('--port', values.port, { min: 0, max: 65_535 }),
    demo: !values['no-demo'],
    killAfterMs:
      killAfter === undefined ? undefined : 1000 * numberOf('--kill-after', killAfter, { min: 0, max: 3600 }),
  };
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        hubs: { ...text, default: '2' },
        nats: { ...text, default: '3' },
        port: { ...text, default: '8081' },
        'kill-after': text,
        'no-demo': { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    const [why] = (error as Error).message.split('. ');
    throw new CannotRun(`${why}. Flags: --hubs COUNT --nats 1|3 --port PORT --no-demo --kill-after SECONDS`);
  }
}

function numberOf(flag: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new CannotRun(`${flag} must be a whole number of ${min} to ${max}, found ${text}`);
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof CannotRun ? error.message : ((error as Error).stack ?? error)}\n`);
    process.exit(1);
  },
);
