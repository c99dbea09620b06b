import * as by from './shown_by.ts';
import type { Statement } from './statement.ts';

/** Authentication: tokens, and the permissions that they grant. */
export const AUTHENTICATION: readonly Statement[] = [
  {
    at: 'Authentication sentence 1',
    says: 'Clients get tokens from an OpenID server with their own credentials',
    tests: [
      by.identityProvider('A token requested as the API describes is accepted over REST and WebSocket'),
      [
        'keycloak/keycloak.test.ts',
        'Tokens of Keycloak are accepted over REST and WebSocket, according to the realm and permissions.yaml',
      ],
    ],
  },
  {
    at: 'Authentication sentence 2',
    says: 'Every REST request needs a token',
    tests: [
      by.matrix('Every endpoint admits the permitted roles, and no others'),
      by.running('answers 401 to a request without token, and 403 to one without permission'),
    ],
  },
  {
    at: 'Token request sentence 1',
    says: 'It is requested by POST below the realm',
    tests: [
      by.identityProvider('A token requested as the API describes is accepted over REST and WebSocket'),
      [
        'keycloak/keycloak.test.ts',
        'Tokens of Keycloak are accepted over REST and WebSocket, according to the realm and permissions.yaml',
      ],
    ],
  },
  {
    at: 'Token request sentence 2',
    says: 'The request is a form',
    tests: [by.identityProvider('A token requested as the API describes is accepted over REST and WebSocket')],
  },
  {
    at: 'Token request sentence 3',
    says: 'Release and beta have token addresses, clients and secrets of their own',
    tests: [
      by.identityProvider('The release and beta environments have their own token addresses, clients and secrets'),
    ],
  },
  {
    at: 'Token request row 1',
    says: 'grant_type is client_credentials',
    tests: [
      by.identityProvider('A token requested as the API describes is accepted over REST and WebSocket'),
      by.identityProvider('The token response has all members that the API lists'),
    ],
  },
  {
    at: 'Token request row 2',
    says: 'client_id is hub-beta-client or hub-release-client',
    tests: [
      by.identityProvider('The release and beta environments have their own token addresses, clients and secrets'),
    ],
  },
  {
    at: 'Token request row 3',
    says: 'username is the name of the user; some servers call it user_name',
    tests: [by.identityProvider('A token requested as the API describes is accepted over REST and WebSocket')],
  },
  {
    at: 'Token request row 4',
    says: 'password is theirs',
    tests: [by.identityProvider('A token requested as the API describes is accepted over REST and WebSocket')],
  },
  {
    at: 'Token request row 5',
    says: 'scope is openid',
    tests: [
      by.identityProvider('A token requested as the API describes is accepted over REST and WebSocket'),
      by.identityProvider('The token response has all members that the API lists'),
    ],
  },
  {
    at: 'Token request row 6',
    says: 'client_secret is that of the client',
    tests: [
      by.identityProvider('The release and beta environments have their own token addresses, clients and secrets'),
      by.identityProvider('A token requested as the API describes is accepted over REST and WebSocket'),
    ],
  },
  {
    at: 'Token response fields row 1',
    says: 'access_token is the token of requests',
    tests: [
      by.identityProvider('A token requested as the API describes is accepted over REST and WebSocket'),
      by.running('accepts a token only in the Authorization header'),
    ],
  },
  {
    at: 'Token response fields row 2',
    says: 'expires_in is in seconds, as 900',
    tests: [by.identityProvider('The token response has all members that the API lists')],
  },
  {
    at: 'Token response fields row 3',
    says: 'refresh_expires_in, as 0',
    tests: [by.identityProvider('The token response has all members that the API lists')],
  },
  {
    at: 'Token response fields row 4',
    says: 'refresh_token renews a token',
    tests: [['hub-ui/signin.test.ts', 'A token is renewed before it expires, without interaction']],
  },
  {
    at: 'Token response fields row 5',
    says: 'token_type is bearer',
    tests: [
      by.identityProvider('The token response has all members that the API lists'),
      by.identityProvider('A token requested as the API describes is accepted over REST and WebSocket'),
    ],
  },
  {
    at: 'Token response fields row 6',
    says: 'id_token identifies the user, and is no access token',
    tests: [
      by.identityProvider('A browser signs in by authorization code with PKCE, and accesses the hub from its page'),
    ],
  },
  {
    at: 'Token response fields row 7',
    says: 'not-before-policy is a number',
    tests: [by.identityProvider('The token response has all members that the API lists')],
  },
  {
    at: 'Token response fields row 8',
    says: 'session_state names the session',
    tests: [by.identityProvider('The token response has all members that the API lists')],
  },
  {
    at: 'Token response fields row 9',
    says: 'scope lists the granted scopes, separated by spaces',
    tests: [
      by.identityProvider('The token response has all members that the API lists'),
      by.identityProvider('A token requested as the API describes is accepted over REST and WebSocket'),
    ],
  },
  {
    at: 'Authorization item 1a',
    says: 'Roles are set up in a file of permissions',
    tests: [
      by.running('answers 401 to a request without token, and 403 to one without permission'),
      ['auth/permissions_file.test.ts', 'readPermissions reads roles, their paths, and their scopes'],
    ],
  },
  {
    at: 'Authorization item 1b',
    says: 'It maps paths to roles, with permissions such as READ_OWN',
    tests: [
      by.matrix('Every endpoint admits the permitted roles, and no others'),
      by.ownership('GET /zones returns owned objects to the tenant, and more to the administrator'),
      ['auth/policy.test.ts', 'Every row of the API is public or has a target in each version that serves it'],
    ],
  },
  {
    at: 'Authorization item 2a',
    says: 'A role has ANY or OWN, not both',
    tests: [
      by.starts('A hub with ANY and OWN for a path does not start, and says why'),
      by.starts(
        'A hub with ANY and OWN in a role, and one in each of two roles with a path twice does not start, and says why',
      ),
    ],
  },
  {
    at: 'Authorization item 2b',
    says: 'A role has a path once',
    tests: [
      by.starts('A hub with a path twice in a role does not start, and says why'),
      by.starts(
        'A hub with a path of version 1 twice in a role, once without its version does not start, and says why',
      ),
    ],
  },
  {
    at: 'Authorization item 3',
    says: 'Permissions of the role guest, such as /health, need no token',
    tests: [
      by.running('admits guests if the role guest is permitted, even with an invalid token'),
      by.matrix('Every endpoint admits the permitted roles, and no others'),
    ],
  },
  {
    at: 'Authorization item 4',
    says: 'Version 2 is permitted only if the file lists it',
    tests: [
      by.running('answers 401 to a request without token, and 403 to one without permission'),
      ['auth/policy.test.ts', 'Every topic has a target in each version for each command that uses it'],
    ],
  },
  {
    at: 'Authorization item 5',
    says: 'Subscribing and sending are permitted by topic, version and object',
    tests: [
      by.matrix('Every topic is open to the permitted roles, and to no others'),
      by.ownership('A subscription receives all events of owned objects, and no others'),
      by.ownership('A tenant that may send its own objects over REST may send nothing over the WebSocket'),
    ],
  },
];
