import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { OPCUACertificateManager } from 'node-opcua-certificate-manager';
import { type StatusCode, StatusCodes } from 'node-opcua-status-code';
import type { SecuritySettings } from './messages.ts';
import { SettingProblem } from './setting_problem.ts';

/** Names by which clients find and identify the server. */
export interface ServerNames {
  /** URI of the application, which its certificate has to contain. */
  readonly uri: string;
  /** Host names and addresses. */
  readonly hosts: readonly string[];
}

/** The certificate of the server, and the decisions about those of clients and users. */
export interface ServerSecurity {
  readonly clients: OPCUACertificateManager;
  readonly users: OPCUACertificateManager;
  readonly certificatePath: string;
  readonly keyPath: string;
  /** URI of the application in the certificate. */
  readonly uri: string;
}

const VALID_DAYS = 10 * 365;

/**
 * Decides about certificates by a function. The library would store each certificate that it sees in a folder, so that
 * clients could fill the disk.
 */
class DecidedCertificates extends OPCUACertificateManager {
  readonly #statusOf: (certificate: X509Certificate) => StatusCode;

  constructor(rootFolder: string, statusOf: (certificate: X509Certificate) => StatusCode) {
    super({ rootFolder, disableFileWatchers: true });
    this.#statusOf = statusOf;
    // The library assigns its own methods to the prototype, with a type for each style of calls.
    this.checkCertificate = ((chain: Buffer | readonly Buffer[], done?: (error: null, status: StatusCode) => void) => {
      const status = this.#checked(chain);
      if (done === undefined) return Promise.resolve(status);
      done(null, status);
      return undefined;
    }) as OPCUACertificateManager['checkCertificate'];
  }

  #checked(chain: Buffer | readonly Buffer[]): StatusCode {
    try {
      const [own] = Array.isArray(chain) ? (chain as readonly Buffer[]) : [chain as Buffer];
      return this.#statusOf(new X509Certificate(own ?? ''));
    } catch {
      return StatusCodes.BadCertificateInvalid;
    }
  }
}

/**
 * Opens the certificates of the server. Creates a key and a self-signed certificate in its folder if the settings name none.
 * Throws a SettingProblem for a certificate, a key or a folder of clients that cannot be used.
 */
export async function openSecurity(
  settings: SecuritySettings,
  names: ServerNames,
  now: () => number,
): Promise<ServerSecurity> {
  const { certificatePath, keyPath, trustedPath, folder } = settings;
  const given = certificatePath !== undefined && keyPath !== undefined ? { certificatePath, keyPath } : undefined;
  const givenUri = given && uriOfGiven(given);
  const trusted = trustedPath === undefined ? undefined : new Set(certificatesIn(trustedPath));
  const clients = new DecidedCertificates(folder, (certificate) =>
    clientStatus(certificate, { trusted, nowMs: now() }),
  );
  // Users sign in with a password. A certificate of a user would be accepted without a decision of the hub.
  const users = new DecidedCertificates(folder, () => StatusCodes.BadIdentityTokenRejected);
  await clients.initialize();
  const own = given ?? (await ownCertificate(clients, join(folder, 'certificate.pem'), { ...names, nowMs: now() }));
  return { clients, users, ...own, uri: givenUri ?? names.uri };
}

/** The status of the certificate of a client. Without a list of trusted ones, users decide who may read. */
function clientStatus(
  { fingerprint256, validFrom, validTo }: X509Certificate,
  { trusted, nowMs }: { readonly trusted: ReadonlySet<string> | undefined; readonly nowMs: number },
): StatusCode {
  if (nowMs < Date.parse(validFrom) || nowMs > Date.parse(validTo)) return StatusCodes.BadCertificateTimeInvalid;
  return trusted?.has(fingerprint256) === false ? StatusCodes.BadCertificateUntrusted : StatusCodes.Good;
}

/** Returns the paths of the server's own certificate and key. Creates the certificate if it is missing. */
async function ownCertificate(
  manager: OPCUACertificateManager,
  certificatePath: string,
  { uri, hosts, nowMs }: ServerNames & { readonly nowMs: number },
): Promise<KeyPair> {
  if (!existsSync(certificatePath)) {
    await manager.createSelfSignedCertificate({
      applicationUri: uri,
      subject: 'CN=Location hub',
      dns: hosts.filter((host) => isIP(host) === 0),
      ip: hosts.filter((host) => isIP(host) !== 0),
      startDate: new Date(nowMs),
      validity: VALID_DAYS,
      outputFile: certificatePath,
    });
  }
  return { certificatePath, keyPath: manager.privateKey };
}

interface KeyPair {
  readonly certificatePath: string;
  readonly keyPath: string;
}

/** Checks a given certificate and its key, and returns the URI of the application in it. */
function uriOfGiven({ certificatePath, keyPath }: KeyPair): string {
  const certificate = parsed('opcua_certificate_path', certificatePath, (bytes) => new X509Certificate(bytes));
  const key = parsed('opcua_private_key_path', keyPath, createPrivateKey);
  if (certificate.publicKey.asymmetricKeyType !== 'rsa') {
    const found = certificate.publicKey.asymmetricKeyType;
    throw new SettingProblem('opcua_certificate_path', `needs an RSA key, found ${found} in ${certificatePath}`);
  }
  if (!certificate.checkPrivateKey(key)) {
    throw new SettingProblem('opcua_private_key_path', `${keyPath} is not the key of ${certificatePath}`);
  }
  const uri = certificate.subjectAltName?.match(/(?:^|, )URI:([^,]+)/)?.[1];
  if (uri === undefined) {
    const found = certificate.subjectAltName ?? 'no alternative name';
    const what = `needs the URI of the application as an alternative name, found ${found} in ${certificatePath}`;
    throw new SettingProblem('opcua_certificate_path', what);
  }
  return uri;
}

function parsed<T>(setting: string, path: string, parse: (bytes: Buffer) => T): T {
  try {
    return parse(readFileSync(path));
  } catch (error) {
    throw new SettingProblem(setting, `cannot read ${path}: ${(error as Error).message}`);
  }
}

/** Returns the fingerprints of the certificates in the files of a folder. */
function certificatesIn(folder: string): readonly string[] {
  const setting = 'opcua_trusted_clients_path';
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => /\.(pem|crt|cer|der)$/i.test(name));
  } catch (error) {
    throw new SettingProblem(setting, `cannot read ${folder}: ${(error as Error).message}`);
  }
  if (names.length === 0) throw new SettingProblem(setting, `${folder} contains no .pem, .crt, .cer or .der file`);
  return names.map((name) => parsed(setting, join(folder, name), (bytes) => new X509Certificate(bytes).fingerprint256));
}
