import { NO_FIELDS } from '../../model/event_batch.ts';
import { wallClockOfEventTime } from '../../model/clock_steps.ts';
import type { FilterFields, Variant } from '../../model/topics.ts';
import { assignedTo } from '../assignments.ts';
import type { ShardContext } from '../context.ts';
import {
  type FenceChange,
  fenceEventBytesMax,
  fenceEventFields,
  fenceEventJson,
  fenceFeature,
  writeFenceEvent,
} from '../fence/fence_event.ts';
import type { Direction } from '../fence/gate_crossings.ts';
import type { Crossing } from '../fence/observe_fences.ts';
import { locationBytesMax, writeLocation } from '../location/event_bytes.ts';
import type { Fix } from '../location/fix.ts';
import { motionMembersJson } from '../location/filtered_json.ts';
import { locationIn, publishedMembersJson } from '../location/location_json.ts';
import { motionBytesMax, motionIn, writeMotion } from '../motion/motion_json.ts';
import { type ProviderState, type TrackableState, touch } from '../state.ts';
import type { FilteredVariant } from '../variant_filter.ts';
import { featureCollection } from '../zone/view.ts';

const NO_VARIANTS: readonly FilteredVariant[] = [];

/** Records a provider's new location and publishes it in every subscribed rendering. */
export function publishLocation(context: ShardContext, fix: Fix): void {
  context.positions?.location(fix, context.clockSteps);
  const variants = context.variants.get('location_updates') ?? NO_VARIANTS;
  if (variants.length === 0) return;
  const { events, zones, sentTime, sentTimeBytes } = context;
  let shared: string | undefined;
  let fields: FilterFields | undefined;
  for (const variant of variants) {
    if (variant.unfiltered !== true) fields ??= locationFields(fix);
    if (variant.wants?.(fields ?? NO_FIELDS) === false) continue;
    const own = variant.unfiltered === true ? undefined : fields;
    if (isPlain(variant)) {
      const event = events.begin(variant.id, own, locationBytesMax(fix));
      event.end(writeLocation(event, event.at, fix, sentTimeBytes));
      continue;
    }
    shared ??= publishedMembersJson(fix, sentTime);
    const text = locationIn(fix, variant, zones, shared);
    if (text === undefined) continue;
    events.text(variant.id, own, variant.geojson === true ? featureCollection([text]) : text);
  }
}

/** Whether the rendering equals the stored form of a location. */
function isPlain({ crs, geojson }: Variant): boolean {
  return crs === 'EPSG:4326' && geojson !== true;
}

function locationFields({
  providerId,
  source,
  providerType,
  associated,
  accuracy,
  floor,
  lon,
  lat,
}: Fix): FilterFields {
  return [providerId, source, providerType, associated, accuracy, floor, lon, lat];
}

/** Records and publishes the motion of a trackable that has a fix. */
export function publishMotion(context: ShardContext, trackable: TrackableState): void {
  const variants = context.variants.get('trackable_motions') ?? NO_VARIANTS;
  const { fix } = trackable;
  if (fix === undefined) return;
  context.positions?.motion(trackable.id, fix, context.clockSteps);
  if (variants.length === 0) return;
  const { events, zones, sentTime, sentTimeBytes } = context;
  let shared: string | undefined;
  let fields: FilterFields | undefined;
  for (const variant of variants) {
    if (variant.unfiltered !== true) fields ??= motionFields(trackable, fix);
    if (variant.wants?.(fields ?? NO_FIELDS) === false) continue;
    if (isPlain(variant)) {
      const own = variant.unfiltered === true ? undefined : fields;
      const event = events.begin(variant.id, own, motionBytesMax(trackable, fix));
      event.end(writeMotion(event, event.at, { trackable, fix, sentTime: sentTimeBytes }));
      continue;
    }
    shared ??= motionMembersJson(fix, sentTime);
    const text = motionIn(trackable, variant, zones, shared);
    if (text === undefined) continue;
    push(context, variant, fields, { text: variant.geojson === true ? featureCollection([text]) : text });
  }
}

function motionFields({ id, entity }: TrackableState, fix: Fix): FilterFields {
  const { filteredAccuracy: accuracy, filteredFloor: floor, filteredLon: lon, filteredLat: lat } = fix;
  return [id, fix.providerId, entity.name ?? undefined, accuracy, floor, lon, lat];
}

/** Publishes the crossings of a provider and the trackables that it is assigned to. */
export function publishProviderCrossings(
  context: ShardContext,
  provider: ProviderState,
  crossings: readonly Crossing[] | undefined,
): void {
  if (crossings === undefined) return;
  const trackables = assignedTo(context.state, provider.id).ids;
  publish(context, crossings, { trackableId: undefined, providerId: provider.id, trackables });
  touch(context.state, provider);
  context.state.urgent.add(provider);
}

/** Publishes the crossings of a trackable, moved by the provider of its fix. */
export function publishTrackableCrossings(
  context: ShardContext,
  trackable: TrackableState,
  crossings: readonly Crossing[] | undefined,
): void {
  if (crossings === undefined) return;
  const providerId = trackable.fix?.providerId;
  publish(context, crossings, { trackableId: trackable.id, providerId, trackables: [trackable.id] });
  touch(context.state, trackable);
  context.state.urgent.add(trackable);
}

function publish(
  context: ShardContext,
  crossings: readonly Crossing[],
  subject: Pick<FenceChange, 'trackableId' | 'providerId' | 'trackables'>,
): void {
  const variants = context.variants.get('fence_events') ?? NO_VARIANTS;
  const { draft, clockSteps } = context;
  const { counts } = draft;
  for (const { fence, entryMs, exitMs, mark } of crossings) {
    if (exitMs === undefined) counts.entries++;
    else counts.exits++;
    if (mark === 'left' || mark === 'right') countCrossing(context, { fence, mark, entryMs }, subject);
    if (variants.length === 0) continue;
    const type = exitMs === undefined ? 'region_entry' : 'region_exit';
    const entered = wallClockOfEventTime(entryMs, clockSteps);
    const left = exitMs && Math.max(entered, wallClockOfEventTime(exitMs, clockSteps));
    publishFenceEvent(context, variants, { fence, type, entryMs: entered, exitMs: left, mark, ...subject });
  }
}

/** Counts the crossing of a gate, unless the provider's trackables count for it. */
function countCrossing(
  { state, clockSteps }: ShardContext,
  { fence, mark, entryMs }: Pick<Crossing, 'fence' | 'entryMs'> & { readonly mark: Direction },
  { trackableId, trackables }: Pick<FenceChange, 'trackableId' | 'trackables'>,
): void {
  if (trackableId === undefined && trackables.length > 0) return;
  state.crossing.gates.add(fence.id, mark, wallClockOfEventTime(entryMs, clockSteps));
}

function publishFenceEvent(context: ShardContext, variants: readonly FilteredVariant[], change: FenceChange): void {
  const { newId, newBuffer, providerInTrackableEvents: nameProvider } = context.options;
  const { events, draft, zones, isJournaled } = context;
  const fields = fenceEventFields(change.fence.entity, change);
  const index = draft.fenceEvents.length;
  let id = '';
  for (const variant of variants) {
    if (variant.wants?.(fields) === false) continue;
    if (id === '') {
      id = newId();
      if (isJournaled) draft.fenceEvents.push([fields, fenceEventJson(change, id, { nameProvider }, newBuffer)]);
    }
    const { geojson, propertiesMax } = variant;
    if (geojson === true) {
      const text = fenceEventJson(change, id, { nameProvider }, newBuffer);
      const rendered = fenceFeature(change.fence.entity, text, variant, zones);
      if (rendered !== undefined) push(context, variant, fields, { text: rendered, index });
      continue;
    }
    const own = variant.unfiltered === true ? undefined : fields;
    const event = events.begin(variant.id, own, fenceEventBytesMax(change));
    event.end(writeFenceEvent(event, event.at, change, id, { nameProvider, propertiesMax }));
    event.indices.push(index);
  }
}

/** Appends an event to a variant. `index` is the index of a fence event among those of the step. */
function push(
  context: ShardContext,
  variant: Variant,
  fields: FilterFields | undefined,
  { text, index }: { readonly text: string; readonly index?: number },
): void {
  context.events.text(variant.id, variant.unfiltered === true ? undefined : fields, text, index);
}
