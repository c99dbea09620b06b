import { type FilteredVariant, filteredVariant } from '../core/variant_filter.ts';
import { look } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';
import type { FilterFields, Variant, EventSelector } from '../model/topics.ts';
import { DeliveryBatch } from './batch.ts';

/** Other hubs that receive events of a variant, each with its own id of the variant. */
export type RemoteInterests = ReadonlyMap<string, FilteredVariant>;

/** Sets the interest of a hub. */
export function withRemote(remote: RemoteInterests | undefined, hub: string, variant: Variant): RemoteInterests {
  return new Map([...(remote ?? []), [hub, filteredVariant(variant)]]);
}

/** Removes a hub. Returns undefined if no hub is left. */
export function withoutRemote(remote: RemoteInterests, hub: string): RemoteInterests | undefined {
  const left = [...remote].filter(([other]) => other !== hub);
  return left.length === 0 ? undefined : new Map(left);
}

/** Whether another hub filters by the fields of events. */
export function wantsFields(remote: RemoteInterests | undefined): boolean {
  return remote !== undefined && [...remote.values()].some(({ unfiltered }) => unfiltered !== true);
}

/** Returns the union of filter values, limits and boxes; undefined if any event may match, or if there are more than `max`. */
export function unionOf(wants: readonly (EventSelector | undefined)[], max: number): EventSelector | undefined {
  let count = 0;
  for (const wanted of wants) {
    if (wanted === undefined) return undefined;
    count += sizeOf(wanted);
  }
  if (count > max) return undefined;
  const all = wants.filter((wanted) => wanted !== undefined);
  const fields = [...new Set(all.flatMap(({ keys }) => keys.map(({ at }) => at)))];
  const keys = fields.map((at) => {
    const values = all.flatMap(({ keys: own }) => own.flatMap((key) => (key.at === at ? key.values : [])));
    return { at, values: [...new Set(values)] };
  });
  const boxes = all.flatMap(({ boxes: own = [] }) => own);
  return { keys, limits: all.flatMap(({ limits }) => limits), ...(boxes.length > 0 && { boxes }) };
}

/** Returns the number of values, limits and boxes. */
export function sizeOf({ keys, limits, boxes = [] }: EventSelector): number {
  return keys.reduce((sum, { values }) => sum + values.length, limits.length + boxes.length);
}

/** Forwards events to the hubs whose filters match. hot */
export function forwardTo(
  remote: RemoteInterests,
  events: EventBatch,
  forward: (events: EventBatch, to: ReadonlyMap<string, Variant>) => void,
): void {
  const { fields } = events;
  const choosers = fields && [...remote].filter(([, { wants }]) => wants !== undefined);
  if (fields === undefined || choosers === undefined || choosers.length === 0) {
    forward(events, remote);
    return;
  }
  const all = new Map<string, Variant>(remote);
  for (const [hub, variant] of choosers) {
    const places = placesOf(fields, variant);
    if (places.length === fields.length) continue;
    all.delete(hub);
    if (places.length > 0) forward(chosen(events, fields, places), new Map([[hub, variant]]));
  }
  if (all.size > 0) forward(events, all);
}

function placesOf(fields: readonly FilterFields[], { wants }: FilteredVariant): number[] {
  const places: number[] = [];
  for (let i = 0; i < fields.length; i++) if (wants?.(fields[i] as FilterFields) !== false) places.push(i);
  return places;
}

function chosen(
  { variant, bytes, ends, positions }: EventBatch,
  fields: readonly FilterFields[],
  places: number[],
): EventBatch {
  const batch = new DeliveryBatch(look(bytes), ends).at(places);
  const events = batch.events(
    variant,
    places.map((place) => fields[place] as FilterFields),
  );
  if (positions === undefined) return events;
  const indices = Uint32Array.from(places, (place) => positions.indices[place] as number);
  return { ...events, positions: { ...positions, indices } };
}
