import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { StartupError } from '../errors.ts';

/** Thrown if a certificate is unusable. The message contains the setting and the reason. */
export class UnusableCertificate extends StartupError {
  override name = 'UnusableCertificate';
}

/** PEM files for TLS. */
export interface CertificateFiles {
  /** The certificate, followed by the intermediate ones. */
  readonly certificatePath: string;
  readonly keyPath: string;
  /** Password of an encrypted key. */
  readonly keyPassword: string | undefined;
  /** Diffie-Hellman parameters for clients without elliptic curves. */
  readonly dhParamsPath: string | undefined;
}

/** A certificate and its key, validated. */
export interface Certificate {
  readonly files: CertificateFiles;
  readonly certificate: Buffer;
  readonly key: Buffer;
  readonly dhParams: Buffer | undefined;
  /** Digest of the content of the files. */
  readonly digest: string;
  /** End of validity, in milliseconds since 1970. */
  readonly expiresMs: number;
  /** Whether the certificate is valid for a host name. */
  names(host: string): boolean;
}

/**
 * Reads a certificate and its key. Throws an UnusableCertificate with the setting and its file if they cannot be read
 * or do not match.
 */
export function readCertificate(files: CertificateFiles): Certificate {
  const certificate = readPem('public_key_path', files.certificatePath);
  const key = readPem('private_key_path', files.keyPath);
  const dhParams = files.dhParamsPath === undefined ? undefined : readPem('dh_params_path', files.dhParamsPath);
  const parsed = parse(certificate, files);
  if (!parsed.checkPrivateKey(openKey(key, files))) {
    throw new UnusableCertificate(`private_key_path: is not the key of the certificate in ${files.certificatePath}`);
  }
  checkServed({ cert: certificate, key, passphrase: files.keyPassword }, files.certificatePath);
  // Node accepts any content here, and ignores invalid parameters.
  if (dhParams?.includes('-----BEGIN DH PARAMETERS-----') === false) {
    throw new UnusableCertificate(
      `dh_params_path: must name a file with such parameters, found none in ${files.dhParamsPath}`,
    );
  }
  const digest = createHash('sha256').update(certificate).update('\0').update(key).update('\0');
  return {
    files,
    certificate,
    key,
    dhParams,
    digest: digest.update(dhParams ?? '').digest('hex'),
    expiresMs: Date.parse(parsed.validTo),
    names: (host) => parsed.checkHost(host) !== undefined,
  };
}

function readPem(setting: string, path: string): Buffer {
  let pem: Buffer;
  try {
    pem = readFileSync(path);
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : String(cause);
    throw new UnusableCertificate(`${setting}: cannot read ${path}: ${reason}`, { cause });
  }
  if (pem.includes('-----BEGIN ')) return pem;
  throw new UnusableCertificate(`${setting}: must name a PEM file, found none in ${path}`);
}

function parse(pem: Buffer, { certificatePath }: CertificateFiles): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new UnusableCertificate(
      `public_key_path: must name a file with a certificate, found none in ${certificatePath}`,
      {
        cause,
      },
    );
  }
}

/** Checks that TLS accepts the files, before a client connects. */
function checkServed(options: SecureContextOptions, path: string): void {
  try {
    createSecureContext(options);
  } catch (cause) {
    throw new UnusableCertificate(`public_key_path: cannot use ${path}: ${(cause as Error).message}`, { cause });
  }
}

function openKey(pem: Buffer, { keyPath, keyPassword }: CertificateFiles): KeyObject {
  try {
    return createPrivateKey({ key: pem, ...(keyPassword === undefined ? {} : { passphrase: keyPassword }) });
  } catch (cause) {
    const isEncrypted = pem.includes('ENCRYPTED');
    if (isEncrypted && keyPassword === undefined) {
      throw new UnusableCertificate(`private_key_password: is required, since ${keyPath} is encrypted`, { cause });
    }
    if (isEncrypted) throw new UnusableCertificate(`private_key_password: does not open ${keyPath}`, { cause });
    throw new UnusableCertificate(`private_key_path: must name a file with a private key, found none in ${keyPath}`, {
      cause,
    });
  }
}
