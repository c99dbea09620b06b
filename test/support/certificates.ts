// `@peculiar/x509` depends on tsyringe, which requires this polyfill.
import 'reflect-metadata';
import { KeyObject, webcrypto } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';

/** A self-signed certificate and its private key, in PEM. */
export interface TestCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly privateKey: KeyObject;
}

const YEAR_MS = 365 * 86_400_000;
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' };

/** Creates a certificate for 127.0.0.1 and the given host name, valid for a year or until the given time. */
export async function makeCertificate(host = 'localhost', untilMs = Date.now() + YEAR_MS): Promise<TestCertificate> {
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    name: [{ CN: [host] }],
    notBefore: new Date(untilMs - 2 * YEAR_MS),
    notAfter: new Date(untilMs),
    extensions: [
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: host },
        { type: 'ip', value: '127.0.0.1' },
      ]),
    ],
  });
  const privateKey = KeyObject.from(keys.privateKey);
  return {
    certificate: `${certificate.toString('pem')}\n`,
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    privateKey,
  };
}

/** Writes certificate and key to a folder and returns their paths. A password encrypts the key. */
export function writeCertificate(folder: string, made: TestCertificate, password?: string) {
  const [certificatePath, keyPath] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const cipher = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc' } as const;
  const key = password === undefined ? made.key : made.privateKey.export({ ...cipher, passphrase: password });
  writeFileSync(certificatePath, made.certificate);
  writeFileSync(keyPath, key);
  return { certificatePath, keyPath };
}
