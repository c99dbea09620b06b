import Type, { type Static } from 'typebox';
import { Maybe, Named, Time } from './schema.ts';

const ids = (kind: string) =>
  Maybe(Type.Array(Type.String({ maxLength: 1000 }), { maxItems: 10_000, description: `Ids of owned ${kind}.` }));

/** Owned entities, in the form of the claim of a token. */
const OwnedResources = Named('OwnedResources', {
  zone_ids: ids('zones'),
  trackable_ids: ids('trackables'),
  provider_ids: ids('providers'),
  fence_ids: ids('fences'),
  anchor_ids: ids('anchors'),
  source_ids: ids('zones, as sources of locations'),
});

/** A key with which a client authenticates in place of an access token. */
export const ApiKey = Named('ApiKey', {
  id: Type.String({ description: 'Id of the key, which is a part of it. The hub makes it.' }),
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Display name, such as that of the client.' }),
  roles: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    minItems: 1,
    maxItems: 100,
    description: 'Roles of permissions.yaml. Together they permit no more than the token of the creator.',
  }),
  owned_resources: Maybe(OwnedResources),
  expires_at: Maybe(Time('When the key expires; never if absent.')),
  created_at: Maybe(Time('When the key was created. The hub sets it.')),
  revoked_at: Maybe(Time('When the key was revoked. The hub sets it.')),
  key: Type.Optional(
    Type.String({ description: 'The key. Only the reply to its creation has it, and it cannot be read again.' }),
  ),
});
export type ApiKey = Static<typeof ApiKey>;

/** A key as it is stored. */
export interface StoredApiKey extends Omit<ApiKey, 'key'> {
  /** SHA-256 of the secret part, in base64url. */
  readonly hash: string;
}
