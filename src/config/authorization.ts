import Type from 'typebox';

/** A text that need not be set. */
function Text(options: { description: string; secret?: true }) {
  return Type.Union([Type.String({ minLength: 1 }), Type.Null()], { default: null, ...options });
}

/** The settings by which requests need access tokens. */
export const AuthorizationProperties = {
  require_authorization: Type.Boolean({
    default: false,
    description: 'Whether requests need an access token. What a token permits is in permissions.yaml beside this file.',
  }),
  openid_config_url: Text({
    description: 'Address of the OpenID configuration of the identity server. Needed with require_authorization.',
  }),
  openid_client_name: Text({
    description: 'Client that tokens must be for, in aud or azp. Needed with require_authorization.',
  }),
  openid_client_secret: Text({
    secret: true,
    description: 'Secret of that client. Taken for compatibility: tokens are verified by public keys.',
  }),
  openid_browser_client_name: Text({
    description: 'Public client by which people sign in to the web UI; openid_client_name when it is null.',
  }),
  openid_browser_config_url: Text({
    description: 'Address of the OpenID configuration as browsers reach it; openid_config_url when it is null.',
  }),
  openid_skip_issuer_verification: Type.Boolean({
    default: false,
    description: 'Whether tokens of any issuer are taken if a key of the identity server fits. For tests.',
  }),
  openid_clock_tolerance: Type.Integer({
    minimum: 0,
    maximum: 300,
    default: 10,
    description: 'How far the clock of the identity server may be away from that of the hub, in seconds.',
  }),
  openid_role_claims: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description: 'Claims that list roles, such as groups.hub, beside realm_access, resource_access and roles.',
  }),
  openid_owned_resources_claim: Type.String({
    minLength: 1,
    default: 'https://deephub.io/owned_resources',
    description: 'Claim that lists what the holder of a token owns: provider_ids, trackable_ids and so on.',
  }),
  verify_authserver: Type.Boolean({
    default: true,
    description: "Whether the identity server's certificate must be valid.",
  }),
  authserver_public_key_path: Text({
    description:
      'PEM file with the certificate that the identity server is verified by, if the system does not know it.',
  }),
};
