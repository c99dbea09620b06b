import type { ObjectIds, ChangesSince } from '../core/item.ts';
import type { ObjectKind } from '../model/id.ts';
import type { Configured, EntityCommand } from './shard_commands.ts';

/** Changes that a record of the log that all hubs share has made. */
export interface Recorded {
  /** The sequence of the record. */
  readonly config: number;
  readonly commands: readonly Configured[];
}

/** What the shards were told behind a record. */
export interface Changed {
  /** What brings some objects back to it, or as near to it as is known, and what has changed of these. */
  readonly undo: Recorded;
  readonly again: readonly Recorded[];
  /** How zones and fences were that have changed, and whether rules have. */
  readonly around: ChangesSince;
}

interface Noted extends Recorded {
  readonly atMs: number;
  /** What undoes the commands, in this order. */
  readonly undo: readonly Configured[];
}

/** No owner is without a successor for so long while anything can be changed. */
const KEPT_MS = 60_000;

/**
 * What the shards were told lately, and what they knew before. Whoever takes over objects was told of changes that the owner
 * before did not live to evaluate: it takes them over with what that one knew of them, and is told of their changes once more.
 * What has changed around them they meet when they arrive (core/handlers/take_over.ts).
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

  /** The objects that records behind that one have changed, and that were there before. */
  objectsSince(config: number): ObjectIds {
    const there = this.#undo(config).flatMap((command) => (isOfObject(command) && command.entity ? [command] : []));
    const ids = (wanted: EntityCommand['kind']): string[] => [
      ...new Set(there.flatMap(({ kind, id }) => (kind === wanted ? [id] : []))),
    ];
    return { providers: ids('provider'), trackables: ids('trackable') };
  }

  /** What has changed behind a record, of those objects. */
  since(config: number, { providers, trackables }: ObjectIds): Changed {
    const concerned = { provider: new Set(providers), trackable: new Set(trackables) };
    const isConcerned = (command: Configured): boolean =>
      isOfObject(command) && concerned[command.kind].has(command.id);
    const undo = this.#undo(config);
    const again = this.#noted.flatMap(({ config: at, commands: all }) => {
      const commands = all.filter(isConcerned);
      return at > config && commands.length > 0 ? [{ config: at, commands }] : [];
    });
    const [last] = again.splice(-1);
    // The shards know of everything by then.
    if (last !== undefined) again.push({ ...last, config: this.#noted.at(-1)?.config ?? last.config });
    return {
      undo: { config: Math.max(config, this.#from ?? 0), commands: undo.filter(isConcerned) },
      again,
      around: aroundBefore(undo),
    };
  }

  #undo(config: number): readonly Configured[] {
    return this.#noted
      .filter((noted) => noted.config > config)
      .toReversed()
      .flatMap(({ undo }) => undo);
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

function isOfObject(command: Configured): command is EntityCommand & { kind: ObjectKind } {
  return command.kind === 'provider' || command.kind === 'trackable';
}

/** The last of what is undone is what there was first. */
function aroundBefore(undo: readonly Configured[]): ChangesSince {
  const zones = new Map<string, ChangesSince['zones'][number]>();
  const fences = new Map<string, ChangesSince['fences'][number]>();
  for (const command of undo) {
    if (command.kind === 'zone') zones.set(command.id, [command.id, command.entity]);
    if (command.kind === 'fence') fences.set(command.id, [command.id, command.entity]);
  }
  const rules = undo.some(({ kind }) => kind === 'rules');
  return { zones: [...zones.values()], fences: [...fences.values()], rules };
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
