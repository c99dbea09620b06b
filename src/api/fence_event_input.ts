import { hubError, HubError } from '../errors.ts';
import Type from 'typebox';
import { checker } from '../model/check.ts';
import { FenceEvent } from '../model/events.ts';
import type { Fence } from '../model/fence.ts';
import { badId, idKey, isId, isUnset } from '../model/id.ts';
import { Maybe } from '../model/schema.ts';
import { show } from '../model/error_value_text.ts';
import { formatTime, parseTime, readableTime } from '../model/time.ts';

const { id: _id, fence_id: _fence, ...members } = FenceEvent.properties;
/** The path identifies the fence. A body may repeat its id. */
const fenceId = Maybe(Type.String({ description: 'Id of the fence: that of the path, or absent.' }));

/** A fence event as sent by a third party. The hub sets its id, and the path its fence. */
export const FenceEventInput = Type.Object(
  { fence_id: fenceId, ...members },
  {
    title: 'FenceEventDraft',
    description: 'A fence event sent by a third party. It names either a provider or a trackable.',
  },
);

const schema = checker(FenceEventInput);

export interface Completing {
  /** Id of the event. */
  readonly id: string;
  readonly nowMs: number;
  /** The trackables of a provider. */
  trackablesOf(providerId: string): readonly { readonly id: string }[];
}

/**
 * Completes a fence event: with the fence's foreign id and properties if it has none of its own, the trackables
 * concerned, and the current time as its time. Throws HUB_BAD_REQUEST naming the invalid field.
 */
export function completeFenceEvent(fence: Fence, body: unknown, { id, nowMs, trackablesOf }: Completing): FenceEvent {
  const sent = schema.parse(body);
  if (!isUnset(sent.fence_id) && idKey(sent.fence_id) !== idKey(fence.id)) {
    const found = show(sent.fence_id);
    throw hubError('not_as_in_path', { path: 'fence_id', expected: fence.id, found });
  }
  const provider = isUnset(sent.provider_id) ? null : sent.provider_id;
  const trackable = isUnset(sent.trackable_id) ? null : sent.trackable_id;
  if ((provider === null) === (trackable === null)) throw noOneObject(provider, trackable);
  checkIds({ provider_id: [provider ?? ''], trackable_id: [trackable ?? ''], trackables: sent.trackables ?? [] });
  const assigned = provider === null ? [] : trackablesOf(provider).map((assignee) => assignee.id);
  const foreignId = sent.foreign_id ?? fence.foreign_id;
  const properties = sent.properties ?? fence.properties;
  return {
    id,
    fence_id: fence.id,
    event_type: sent.event_type,
    provider_id: provider,
    trackable_id: trackable,
    trackables: sent.trackables ?? (trackable === null ? assigned : [trackable]),
    ...(foreignId == null ? {} : { foreign_id: foreignId }),
    ...timesOf(sent, nowMs),
    ...(properties == null ? {} : { properties }),
  };
}

function checkIds(ids: Readonly<Record<string, readonly string[]>>): void {
  for (const [member, found] of Object.entries(ids)) {
    const bad = found.find((id) => !isId(id));
    if (bad !== undefined) throw new HubError(badId(member, bad));
  }
}

function noOneObject(provider: string | null, trackable: string | null): HubError {
  const found = provider === null ? 'nothing' : show([provider, trackable]);
  return hubError('not_exactly_one', {
    path: 'provider_id',
    member: 'provider_id',
    other_member: 'trackable_id',
    found,
  });
}

type Times = Pick<FenceEvent, 'entry_time' | 'exit_time'>;

function timesOf(
  { event_type: type, entry_time: entry, exit_time: exit }: Times & Pick<FenceEvent, 'event_type'>,
  nowMs: number,
): Times {
  const entryMs = timeOf('entry_time', entry);
  const exitMs = timeOf('exit_time', exit);
  const now = formatTime(nowMs);
  const entered = entry == null ? undefined : readableTime(entry);
  if (type === 'region_entry') return { entry_time: entered ?? now };
  if (entryMs > exitMs || (exit == null && entryMs > nowMs)) {
    throw hubError('exit_before_entry', { path: 'exit_time', found: show(exit ?? now) });
  }
  const left = exit == null ? now : readableTime(exit);
  return { entry_time: entered ?? left, exit_time: left };
}

/** NaN for an absent time. */
function timeOf(field: string, text: string | null | undefined): number {
  if (text == null) return Number.NaN;
  const timeMs = parseTime(text);
  if (!Number.isNaN(timeMs)) return timeMs;
  throw hubError('not_a_time', { path: field, found: show(text) });
}
