import Type, { type Static } from 'typebox';
import { Named, Time } from './schema.ts';

const text = (description: string) => Type.String({ description });
const maybeText = (description: string) => Type.Optional(text(description));

/** What a license key may say beside its term. */
const told = {
  development_info: maybeText('What the key says of its use for development.'),
  custom_info: maybeText('What else the key says, for people.'),
};

/** What there is to say about the license, in words. */
export const LicenseInfo = Named('LicenseInfo', {
  info: text('Whether a key is set, and until when it is valid.'),
  warning: maybeText('That the key does not verify, that nothing can verify it, or when it expires or has expired.'),
  trial_info: maybeText('When the trial ends or has ended.'),
  ...told,
});
export type LicenseInfo = Static<typeof LicenseInfo>;

/** A license in force: that of the key, or a trial. */
export const LicenseLease = Named('Lease', {
  hub_instance_id: text('Id of the hub.'),
  customer_email: text('Whom the key was given to; empty for a trial.'),
  lease_end_timestamp: Time('When the license ends, as RFC 3339.'),
  grace_period_timestamp: Time('Until when it is good after its end, as RFC 3339.'),
  signature: maybeText('Signature of the key.'),
  is_trial: Type.Boolean({ description: 'Whether it is a trial.' }),
  trial_end_timestamp: Type.Union([Time('When the trial ends, as RFC 3339; null without a trial.'), Type.Null()]),
  lease_warning: maybeText('The warning that the license information has, too.'),
  ...told,
  map_source: maybeText('Where the key says that maps come from.'),
  map_access_token: maybeText('The token for these maps.'),
  map_style: maybeText('The style of these maps.'),
  send_report: Type.Optional(Type.Boolean({ description: 'Whether the key asks for reports; the hub sends none.' })),
});
export type LicenseLease = Static<typeof LicenseLease>;

/** A key is short. */
export const LICENSE_KEY_MAX_CHARACTERS = 16_384;

/** The body that sets a key. */
export const LicenseKeyBody = Named('LicenseKeyBody', {
  license_key: Type.String({
    minLength: 1,
    maxLength: LICENSE_KEY_MAX_CHARACTERS,
    description: 'A JSON Web Signature in compact form where the hub has public keys to verify it by; else any text.',
  }),
});
