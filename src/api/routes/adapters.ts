import Type from 'typebox';
import { Choice } from '../../model/schema.ts';
import { type Method, type ApiRoute, route } from '../route.ts';

/** The vendor's formats differ by product and version: the adapter selects usable members. */
const CiscoNotification = Type.Object(
  { notificationType: Type.String({ description: 'The kind of notification, as the vendor calls it.' }) },
  { title: 'CiscoNotification', description: 'A notification as the vendor describes it.', additionalProperties: true },
);
const CiscoNotificationArray = Type.Array(CiscoNotification, {
  title: 'CiscoNotificationArray',
  description: 'At most 1000 notifications.',
  maxItems: 1000,
});
const CiscoEnvelope = Type.Object(
  { notifications: CiscoNotificationArray },
  { title: 'CiscoEnvelope', description: 'Notifications in their envelope.' },
);

const CiscoNotifications = Choice([CiscoEnvelope, CiscoNotificationArray, CiscoNotification], {
  title: 'CiscoNotifications',
  description: 'Notifications in their envelope, as a list, or a single one.',
});

export const ADAPTER_ROUTES: readonly ApiRoute[] = [ciscoRow('POST'), ciscoRow('PUT')];

function ciscoRow(method: Method): ApiRoute {
  return route({
    method,
    path: '/adapters/cisco/locations',
    summary: 'Send location notifications of Cisco CMX or Cisco Spaces',
    permission: { operation: 'UPDATE' },
    body: CiscoNotifications,
    exactNumbers: true,
    bodyMaxBytes: 1 << 20,
    notes: { refusals: { 413: 'The body is larger than 1 MiB, or than the setting client_max_body_size.' } },
    replies: { 204: { description: 'At least one is accepted, or none contains a position.' } },
    handle({ body, reply }, hub) {
      const waiting = hub.acceptCisco(body);
      return waiting === undefined ? reply.noContent : waiting.then(() => reply.noContent);
    },
  });
}
