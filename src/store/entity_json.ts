import type { StoredKind, EntityWrite } from '../core/entity_write.ts';
import { StartupError } from '../errors.ts';
import type { Anchor } from '../model/anchor.ts';
import type { StoredFence } from '../model/fence.ts';
import { parseLossless } from '../model/lossless_numbers.ts';
import type { LocationProvider } from '../model/provider.ts';
import type { Trackable } from '../model/trackable.ts';
import type { Zone } from '../model/zone.ts';

/** An entity after a change; undefined after its deletion. */
interface Changed {
  readonly kind: StoredKind;
  readonly id: string;
  readonly after: object | undefined;
}

/** Converts changes of entities to stored form. */
export function entityWrites(changes: readonly Changed[]): EntityWrite[] {
  return changes.map(({ kind, id, after }) => ({ kind, id, text: after && JSON.stringify(after) }));
}

/** Parsed entities by kind, in the order of creation. */
export class EntitiesByKind {
  readonly zone: Zone[] = [];
  readonly fence: StoredFence[] = [];
  readonly trackable: Trackable[] = [];
  readonly provider: LocationProvider[] = [];
  readonly anchor: Anchor[] = [];

  /** Parses and adds stored entities; skips settings. Throws a StartupError with the name of a damaged one. */
  add(entities: readonly EntityWrite[]): this {
    for (const { kind, id, text } of entities) {
      if (kind === 'setting' || text === undefined) continue;
      try {
        (this[kind] as unknown[]).push(parseLossless(text));
      } catch (cause) {
        const why = String((cause as Error).message).replaceAll(/\s+/g, ' ');
        throw new StartupError(`Cannot read ${kind} "${id}" from the database: ${why}`, { cause });
      }
    }
    return this;
  }
}

/** Returns stored entities by kind, in the order of creation. Throws a StartupError with the name of a damaged one. */
export function storedByKind(entities: readonly EntityWrite[]): EntitiesByKind {
  return new EntitiesByKind().add(entities);
}

/** Converts a setting to stored form. */
export function settingWrite(name: string, value: unknown): EntityWrite {
  return { kind: 'setting', id: name, text: JSON.stringify(value) };
}

/** Converts documents defined in the UI to stored form. */
export function definedWrites(documents: readonly (readonly [name: string, document: object | undefined])[]) {
  return documents.map(([id, document]): EntityWrite => {
    return { kind: 'setting', id, text: document && JSON.stringify(document) };
  });
}

/** Returns a stored setting; undefined if it does not exist. */
export function storedSetting<T>(entities: readonly EntityWrite[], name: string): T | undefined {
  const text = entities.find(({ kind, id }) => kind === 'setting' && id === name)?.text;
  return text === undefined ? undefined : (JSON.parse(text) as T);
}
