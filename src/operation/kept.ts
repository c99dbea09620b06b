import type { EntityWrite, Kept } from '../core/kept.ts';
import { parseKeeping } from '../model/keep_numbers.ts';
import { entityWrites } from '../store/entity_text.ts';

/** Values of the hub itself that the store has kept, by name. */
export function keptSettings({ entities }: Kept): ReadonlyMap<string, unknown> {
  const own = entities.filter(({ kind, text }) => kind === 'setting' && text !== undefined);
  return new Map(own.map(({ id, text }) => [id, parseKeeping(text as string)]));
}

/** Values of the hub itself as the store keeps them; one without value is deleted. */
export function settingWrites(
  settings: readonly { readonly name: string; readonly value: object | undefined }[],
): EntityWrite[] {
  return entityWrites(settings.map(({ name: id, value: after }) => ({ kind: 'setting', id, after })));
}

/** Providers whose last location was received no earlier than that. */
export function providersHeardSince({ rows }: Kept, sinceMs: number): string[] {
  const ids: string[] = [];
  for (const row of rows) {
    if (row.kind === 'provider' && row.gone !== true && row.receivedMs >= sinceMs) ids.push(row.id);
  }
  return ids;
}
