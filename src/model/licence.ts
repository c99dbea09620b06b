import Type, { type Static } from 'typebox';
import { Named, Time } from './schema.ts';

const Timestamp = Time('RFC 3339 date and time.');
const Text = Type.Optional(Type.String());

/** What there is to say about the licence, in words. */
export const LicenceInfo = Named('LicenceInfo', {
  info: Type.String(),
  warning: Text,
  trial_info: Text,
  development_info: Text,
  custom_info: Text,
});
export type LicenceInfo = Static<typeof LicenceInfo>;

/** A licence in force: that of the key, or a trial. */
export const Lease = Named('Lease', {
  hub_instance_id: Type.String(),
  customer_email: Type.String(),
  lease_end_timestamp: Timestamp,
  grace_period_timestamp: Timestamp,
  signature: Text,
  is_trial: Type.Boolean(),
  trial_end_timestamp: Type.Union([Timestamp, Type.Null()]),
  lease_warning: Text,
  development_info: Text,
  custom_info: Text,
  map_source: Text,
  map_access_token: Text,
  map_style: Text,
  send_report: Type.Optional(Type.Boolean()),
});
export type Lease = Static<typeof Lease>;

/** The body that sets a key. */
export const LicenceKeyBody = Named('LicenceKeyBody', { license_key: Type.String({ minLength: 1 }) });
