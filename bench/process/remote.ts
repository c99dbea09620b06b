import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** Commands of a process by name: the types of the argument and the result. */
export type Commands = Record<string, (input: never) => unknown>;

interface Asked {
  readonly id: number;
  readonly command: string;
  readonly input: unknown;
}

interface Answered {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A child process of the benchmark that executes commands: the parent's side. */
export class Remote<C extends Commands> {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  /** Called with messages that the process sends without a request. */
  onNote: ((note: unknown) => void) | undefined;

  /** Starts the module as a process, with arguments. */
  constructor(module: URL, args: readonly string[] = []) {
    this.#child = fork(module, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child.on('message', (message) => this.#answered(message as Answered));
    this.#child.on('exit', (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${module} has ended with code ${code}`));
      this.#waiting.clear();
    });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** Runs a command in the child. Rejects with its error, or when the process has exited. */
  ask<K extends keyof C & string>(command: K, input: Parameters<C[K]>[0]): Promise<Awaited<ReturnType<C[K]>>> {
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#child.send({ id, command, input } satisfies Asked);
    });
  }

  /** Stops the process and waits for its exit. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  #answered(message: Answered | { readonly note: unknown }): void {
    if ('note' in message) {
      this.onNote?.(message.note);
      return;
    }
    const { id, value, error } = message;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(error));
  }
}

/** Sends the parent process a message without a request. */
export function note(value: unknown): void {
  process.send?.({ note: value });
}

/** Serves commands of the parent process until it disconnects: the child's side. */
export function serve(commands: Commands): void {
  process.on('message', async ({ id, command, input }: Asked) => {
    const run = commands[command] as ((input: unknown) => unknown) | undefined;
    let answer: Answered;
    try {
      if (run === undefined) throw new Error(`${command}: there is no such command`);
      answer = { id, value: await run(input) };
    } catch (error) {
      answer = { id, error: (error as Error).stack ?? String(error) };
    }
    process.send?.(answer);
  });
  process.on('disconnect', () => process.exit());
}
