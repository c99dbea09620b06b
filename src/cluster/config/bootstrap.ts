import type { ConfigChange } from './config_changes.ts';
import type { EntityText } from './snapshot_messages.ts';

/** Changes of a record of the configuration log. */
interface RecordedChanges {
  readonly sequence: number;
  readonly changes: readonly ConfigChange[];
}

/** More records than a failed owner may lag behind when a new hub takes over from it. */
const RECORDS_MAX = 1000;
const CHARACTERS_MAX = 16 << 20;

/**
 * Entities of a hub that is opening, until its other parts take them. They are returned as of some records ago, with the
 * changes since: the hub may have to take over from an owner that has not evaluated these.
 */
export class BootstrapEntities {
  /** In order of creation. */
  readonly #texts = new Map<string, EntityText>();
  #recent: RecordedChanges[] = [];
  #characters = 0;

  /** Sets the entities before the first record. */
  restore(entities: Iterable<EntityText>): void {
    for (const entity of entities) this.#texts.set(keyOf(entity), entity);
  }

  apply(record: RecordedChanges): void {
    if (record.changes.length === 0) return;
    this.#recent.push(record);
    this.#characters += charactersIn(record);
    while (this.#recent.length > RECORDS_MAX || this.#characters > CHARACTERS_MAX) this.#settleFirst();
  }

  /** Returns the entities as of right before the first of `recent`, or now if that is empty. Drops all. */
  take(): { readonly entities: readonly EntityText[]; readonly recent: readonly RecordedChanges[] } {
    const taken = { entities: [...this.#texts.values()], recent: this.#recent };
    this.#texts.clear();
    this.#recent = [];
    return taken;
  }

  #settleFirst(): void {
    const [first] = this.#recent.splice(0, 1) as [RecordedChanges];
    this.#characters -= charactersIn(first);
    for (const { kind, id, text, ifAbsent } of first.changes) {
      const key = keyOf({ kind, id });
      if (text === null) this.#texts.delete(key);
      else if (ifAbsent !== true || !this.#texts.has(key)) this.#texts.set(key, { kind, id, text });
    }
  }
}

function keyOf({ kind, id }: Pick<EntityText, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}

function charactersIn({ changes }: RecordedChanges): number {
  return changes.reduce((sum, { text }) => sum + (text?.length ?? 0), 0);
}
