import Type from 'typebox';
import { EVENT_TOPICS } from './logged_event.ts';
import { ArrayOf, Named, OneOf } from './schema.ts';

const Cursor = (description: string) => Type.String({ description });

/** An event of the event log. */
const LoggedEvent = Named('LoggedEvent', {
  cursor: Cursor('Reading after it continues with the next event.'),
  topic: OneOf(EVENT_TOPICS, { title: 'EventTopic', description: 'The topic of the event.' }),
  payload: Type.Object(
    {},
    { title: 'EventPayload', description: 'The event, as subscriptions to the topic receive it.' },
  ),
});

/** Events of the event log after a cursor. */
export const LoggedEvents = Named('LoggedEvents', {
  events: ArrayOf(LoggedEvent),
  next: Cursor('Cursor after the last event that was examined, also if the filters exclude it.'),
  has_more: Type.Boolean({ description: 'Whether the log has events after next.' }),
});
