import { nkeys } from '@nats-io/transport-node';

/** Configuration of an operator's server, and the credentials file of a user. */
export interface Credentials {
  readonly configuration: string;
  readonly file: string;
}

const UNLIMITED = { subs: -1, data: -1, payload: -1 };
const ACCOUNT = { ...UNLIMITED, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
const STORAGE = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };

/** Makes an operator with an account of its own, one for a cluster, and a user there who may use these subjects. */
export function makeCredentials(subjects: { publish: readonly string[]; subscribe: readonly string[] }): Credentials {
  const [operator, system, account] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()];
  const user = nkeys.createUser();
  const operatorToken = token(operator, operator, { type: 'operator', system_account: system.getPublicKey() });
  const accountToken = (key: Key, limits: object) => token(operator, key, { type: 'account', limits });
  const permissions = { pub: { allow: subjects.publish }, sub: { allow: subjects.subscribe } };
  const userToken = token(account, user, { type: 'user', ...permissions, ...UNLIMITED });
  return {
    configuration: `
      operator: ${operatorToken}
      system_account: ${system.getPublicKey()}
      resolver: MEMORY
      resolver_preload {
        ${system.getPublicKey()}: ${accountToken(system, ACCOUNT)}
        ${account.getPublicKey()}: ${accountToken(account, { ...ACCOUNT, ...STORAGE })}
      }`,
    file: [
      ...['-----BEGIN NATS USER JWT-----', userToken, '------END NATS USER JWT------', ''],
      ...[
        '-----BEGIN USER NKEY SEED-----',
        new TextDecoder().decode(user.getSeed()),
        '------END USER NKEY SEED------',
        '',
      ],
    ].join('\n'),
  };
}

type Key = ReturnType<typeof nkeys.createUser>;

/** A signed JWT about a subject. */
function token(signer: Key, subject: Key, says: Readonly<Record<string, unknown>>): string {
  const sub = subject.getPublicKey();
  const iat = Math.floor(Date.now() / 1000);
  const claims = { jti: sub, iat, iss: signer.getPublicKey(), name: sub, sub, nats: { ...says, version: 2 } };
  const signed = `${base64({ typ: 'JWT', alg: 'ed25519-nkey' })}.${base64(claims)}`;
  return `${signed}.${Buffer.from(signer.sign(Buffer.from(signed))).toString('base64url')}`;
}

function base64(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
