import type { ObjectIds, ChangesSince } from '../core/item.ts';
import type { ObjectKind } from '../model/id.ts';
import type { ConfigCommand, EntityCommand } from './shard_commands.ts';

/** Changes of one record of the shared log. */
export interface RecordedChanges {
  /** Sequence of the record. */
  readonly config: number;
  readonly commands: readonly ConfigCommand[];
}

/** Changes after a record, as needed to adopt objects. */
export interface AdoptionChanges {
  /** Commands that restore the objects' own entities as of that record, and the changes since. */
  readonly undo: RecordedChanges;
  readonly reapply: readonly RecordedChanges[];
  /** Previous values of changed zones and fences, and whether rules have changed. */
  readonly surroundings: ChangesSince;
}

interface RecentRecord extends RecordedChanges {
  readonly atMs: number;
  /** Commands that undo the changes, in this order. */
  readonly undo: readonly ConfigCommand[];
}

/**
 * Time for which changes are retained. No object is without an owner for that long while its configuration can change.
 */
const RETENTION_MS = 60_000;

/**
 * Recent changes of the shards' configuration, with the previous values. The former owner of an adopted object has
 * evaluated the configuration up to some record. The object is adopted with the configuration of that record, and then
 * its own changes are applied again. Changes of zones, fences and rules apply on arrival (core/handlers/take_over.ts).
 */
export class RecentChanges {
  readonly #elapsed: () => number;
  readonly #current = {
    zone: new Map<string, ConfigCommand>(),
    fence: new Map<string, ConfigCommand>(),
    provider: new Map<string, ConfigCommand>(),
    trackable: new Map<string, ConfigCommand>(),
    rules: new Map<string, ConfigCommand>(),
  };
  /** Record since which changes can be undone; initially the record at which the hub started. */
  #from: number | undefined;
  #records: RecentRecord[] = [];

  /** `elapsed` returns monotonic time. */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  note({ config, commands }: RecordedChanges): void {
    const undo = commands.map((command) => this.#replace(command)).reverse();
    this.#from ??= config;
    if (config <= this.#from || commands.length === 0) return;
    const atMs = this.#elapsed();
    const old = this.#records.findLast((noted) => noted.atMs < atMs - RETENTION_MS);
    if (old !== undefined) {
      this.#from = old.config;
      this.#records = this.#records.filter((noted) => noted.config > old.config);
    }
    this.#records.push({ atMs, config, commands, undo });
  }

  /** Returns the objects that existed and were changed by records after `config`. */
  objectsSince(config: number): ObjectIds {
    const there = this.#undo(config).flatMap((command) => (isOfObject(command) && command.entity ? [command] : []));
    const ids = (kindOfId: EntityCommand['kind']): string[] => [
      ...new Set(there.flatMap(({ kind, id }) => (kind === kindOfId ? [id] : []))),
    ];
    return { providers: ids('provider'), trackables: ids('trackable') };
  }

  /** Returns the changes after a record that affect the given objects. */
  since(config: number, { providers, trackables }: ObjectIds): AdoptionChanges {
    const concerned = { provider: new Set(providers), trackable: new Set(trackables) };
    const concerns = (command: ConfigCommand): boolean =>
      isOfObject(command) && concerned[command.kind].has(command.id);
    const undo = this.#undo(config);
    const reapply = this.#records.flatMap(({ config: at, commands: all }) => {
      const commands = all.filter(concerns);
      return at > config && commands.length > 0 ? [{ config: at, commands }] : [];
    });
    const [last] = reapply.splice(-1);
    // The last command is applied with the latest record, since the shards have applied all of them by then.
    if (last !== undefined) reapply.push({ ...last, config: this.#records.at(-1)?.config ?? last.config });
    return {
      undo: { config: Math.max(config, this.#from ?? 0), commands: undo.filter(concerns) },
      reapply,
      surroundings: previousSurroundings(undo),
    };
  }

  #undo(config: number): readonly ConfigCommand[] {
    return this.#records
      .filter((noted) => noted.config > config)
      .toReversed()
      .flatMap(({ undo }) => undo);
  }

  /** Applies a command and returns the previous value as a command. */
  #replace(command: ConfigCommand): ConfigCommand {
    const current = this.#current[command.kind];
    const id = command.kind === 'rules' ? '' : command.id;
    const before = current.get(id) ?? without(command);
    if (command.kind !== 'rules' && command.entity === undefined) current.delete(id);
    else current.set(id, unforced(command));
    return before;
  }
}

function isOfObject(command: ConfigCommand): command is EntityCommand & { kind: ObjectKind } {
  return command.kind === 'provider' || command.kind === 'trackable';
}

/** Returns the oldest values of zones and fences. The last command that undoes a change contains the oldest value. */
function previousSurroundings(undo: readonly ConfigCommand[]): ChangesSince {
  const zones = new Map<string, ChangesSince['zones'][number]>();
  const fences = new Map<string, ChangesSince['fences'][number]>();
  for (const command of undo) {
    if (command.kind === 'zone') zones.set(command.id, [command.id, command.entity]);
    if (command.kind === 'fence') fences.set(command.id, [command.id, command.entity]);
  }
  const rules = undo.some(({ kind }) => kind === 'rules');
  return { zones: [...zones.values()], fences: [...fences.values()], rules };
}

function without(command: ConfigCommand): ConfigCommand {
  if (command.kind === 'rules') return { kind: 'rules', rules: [] };
  // The former owner may have received locations of a provider before its entity was created, and locations are adopted
  // only with an entity.
  const { id, type } = (command.kind === 'provider' && command.entity) || {};
  if (id !== undefined && type !== undefined) return { kind: 'provider', id: command.id, entity: { id, type } };
  return { ...unforced(command), entity: undefined };
}

/** Returns the command without `force`, since restoring an entity is not a change. */
function unforced<Command extends ConfigCommand>(command: Command): Command {
  return 'force' in command ? { ...command, force: false } : command;
}
