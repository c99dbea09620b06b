import Type from 'typebox';
import { type Method, type Route, route } from '../route.ts';

/** The vendor's formats differ by product and version: the adapter sorts out what it can use. */
const Notification = Type.Object({}, { description: 'As the vendor describes it.' });
const Notifications = Type.Array(Notification, { maxItems: 1000 });

const CiscoNotifications = Type.Union(
  [
    Type.Object({ notifications: Notifications }),
    Notifications,
    Type.Object({ notificationType: Type.String({ description: 'Of a single notification.' }) }),
  ],
  { title: 'CiscoNotifications', description: 'Notifications in their envelope, as a list, or a single one.' },
);

export const ADAPTER_ROUTES: readonly Route[] = [ciscoRow('POST'), ciscoRow('PUT')];

function ciscoRow(method: Method): Route {
  return route({
    method,
    path: '/adapters/cisco/locations',
    summary: 'Send location notifications of Cisco CMX or Cisco Spaces',
    permission: { operation: 'UPDATE' },
    body: CiscoNotifications,
    bodyMaxBytes: 1 << 20,
    notes: { refusals: { 413: 'The body is larger than 1 MiB, or than the setting client_max_body_size.' } },
    replies: { 204: { description: 'At least one is accepted, or none tells of a position.' } },
    handle({ body, reply }, hub) {
      const waiting = hub.acceptCisco(body);
      return waiting === undefined ? reply.noContent : waiting.then(() => reply.noContent);
    },
  });
}
