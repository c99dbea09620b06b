import type { Configured } from './shard_commands.ts';

/** Changes that a record of the log that all hubs share has made. */
export interface Recorded {
  /** The sequence of the record. */
  readonly config: number;
  readonly commands: readonly Configured[];
}

interface Noted extends Recorded {
  readonly atMs: number;
  /** What undoes the commands, in this order. */
  readonly undo: readonly Configured[];
}

/** No owner is without a successor for so long while anything can be changed. */
const KEPT_MS = 60_000;

/**
 * What the shards were told lately, and what they knew before. Whoever takes over was told of changes that the owner before
 * did not live to evaluate: it takes over the objects with what that one knew, and is told of these changes once more.
 */
export class RecentChanges {
  readonly #elapsed: () => number;
  readonly #known = {
    zone: new Map<string, Configured>(),
    fence: new Map<string, Configured>(),
    provider: new Map<string, Configured>(),
    trackable: new Map<string, Configured>(),
    rules: new Map<string, Configured>(),
  };
  /** What was before the changes behind that record is known: first that of all that was there when the hub began. */
  #from: number | undefined;
  #noted: Noted[] = [];

  /** `elapsed`: time that has passed since some moment. */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  note({ config, commands }: Recorded): void {
    const undo = commands.map((command) => this.#replace(command)).reverse();
    this.#from ??= config;
    if (config <= this.#from || commands.length === 0) return;
    const atMs = this.#elapsed();
    const old = this.#noted.findLast((noted) => noted.atMs < atMs - KEPT_MS);
    if (old !== undefined) {
      this.#from = old.config;
      this.#noted = this.#noted.filter((noted) => noted.config > old.config);
    }
    this.#noted.push({ atMs, config, commands, undo });
  }

  /** What brings the shards back to a record, or as near to it as is known, and the changes behind that. */
  since(config: number): { readonly undo: Recorded; readonly again: readonly Recorded[] } {
    const later = this.#noted.filter((noted) => noted.config > config);
    const commands = later.toReversed().flatMap(({ undo }) => undo);
    const again = later.map(({ config, commands }) => ({ config, commands }));
    return { undo: { config: Math.max(config, this.#from ?? 0), commands }, again };
  }

  /** Returns what was known before. */
  #replace(command: Configured): Configured {
    const known = this.#known[command.kind];
    const id = command.kind === 'rules' ? '' : command.id;
    const before = known.get(id) ?? without(command);
    if (command.kind !== 'rules' && command.entity === undefined) known.delete(id);
    else known.set(id, unforced(command));
    return before;
  }
}

function without(command: Configured): Configured {
  if (command.kind === 'rules') return { kind: 'rules', rules: [] };
  // The owner may have had locations of a provider before it was told of it: these are only taken over with an entity.
  const { id, type } = (command.kind === 'provider' && command.entity) || {};
  if (id !== undefined && type !== undefined) return { kind: 'provider', id: command.id, entity: { id, type } };
  return { ...unforced(command), entity: undefined };
}

/** What is brought back is no change. */
function unforced<Command extends Configured>(command: Command): Command {
  return 'force' in command ? { ...command, force: false } : command;
}
