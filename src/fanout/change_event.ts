import type { ChangeEvent } from '../model/events.ts';
import { formatTime } from '../model/time.ts';
import type { FilterFields, Topic } from '../model/topics.ts';

/** An entity before and after; undefined where there is none. */
export interface EntityChange {
  readonly kind: 'zone' | 'fence' | 'trackable' | 'provider';
  readonly id: string;
  readonly before: object | undefined;
  readonly after: object | undefined;
}

/** The topic, filter fields and payload of the event that tells of a change. */
export function changeEvent(
  { kind, id, before, after }: EntityChange,
  nowMs: number,
): { topic: Topic; fields: FilterFields; event: ChangeEvent } {
  const type = after === undefined ? 'delete' : before === undefined ? 'create' : 'update';
  const object = { ...after, id };
  return {
    topic: `${kind}_changes`,
    fields: [id, type],
    event: { timestamp: formatTime(nowMs), event_type: type, id, object },
  };
}
