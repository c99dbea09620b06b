import Type, { type Static } from 'typebox';
import { Named, OneOf, Time } from './schema.ts';

const text = (description: string) => Type.String({ description });
const maybeText = (description: string) => Type.Optional(text(description));

/** Optional statements of a license key besides its term. */
const statements = {
  development_info: maybeText('Statement of the key about its use for development.'),
  custom_info: maybeText('Other statements of the key, for people.'),
};

/** Human-readable information about the license. */
export const LicenseInfo = Named('LicenseInfo', {
  state: OneOf(['none', 'unverifiable', 'invalid', 'not_begun', 'valid', 'expiring', 'in_grace', 'expired'], {
    title: 'LicenseState',
    description: 'State of the license key, which `info` and `warning` describe.',
  }),
  begins_at: Type.Optional(Time('Begin of the license, RFC 3339.')),
  ends_at: Type.Optional(Time('End of the license, RFC 3339.')),
  grace_ends_at: Type.Optional(Time('End of the grace period after the license, RFC 3339.')),
  trial_ends_at: Type.Optional(Time('End of the trial, RFC 3339.')),
  info: text('Whether a key is set, and its expiry date.'),
  warning: maybeText('Warning: the key does not verify, it cannot be verified, or it expires or has expired.'),
  trial_info: maybeText('End of the trial.'),
  ...statements,
});
export type LicenseInfo = Static<typeof LicenseInfo>;

/** The effective license: that of the key, or a trial. */
export const LicenseLease = Named('Lease', {
  hub_instance_id: text('Id of the hub.'),
  customer_email: text('Email address of the licensee; empty for a trial.'),
  lease_end_timestamp: Time('End of the license, RFC 3339.'),
  grace_period_timestamp: Time('End of the grace period after the license, RFC 3339.'),
  signature: maybeText('Signature of the key.'),
  is_trial: Type.Boolean({ description: 'Whether it is a trial.' }),
  trial_end_timestamp: Type.Union([Time('End of the trial, RFC 3339; null without a trial.'), Type.Null()]),
  lease_warning: maybeText('The same warning as in the license information.'),
  ...statements,
  map_source: maybeText('Source of maps named by the key.'),
  map_access_token: maybeText('Access token for these maps.'),
  map_style: maybeText('Style of these maps.'),
  send_report: Type.Optional(Type.Boolean({ description: 'Whether the key asks for reports; the hub sends none.' })),
});
export type LicenseLease = Static<typeof LicenseLease>;

/** Maximum length of a license key. */
export const LICENSE_KEY_MAX_CHARACTERS = 16_384;

/** Body of a request that sets the license key. */
export const LicenseKeyBody = Named('LicenseKeyBody', {
  license_key: Type.String({
    minLength: 1,
    maxLength: LICENSE_KEY_MAX_CHARACTERS,
    description: 'A JSON Web Signature in compact form if the hub has public keys to verify it; otherwise any string.',
  }),
});
