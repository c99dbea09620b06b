import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A certificate that signs itself, and its key, as PEM. */
export interface TestCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly privateKey: KeyObject;
}

const YEAR_MS = 365 * 86_400_000;

/** Makes a certificate for 127.0.0.1 and the given host name; good for a year, or until the given time. */
export function makeCertificate(host = 'localhost', untilMs = Date.now() + YEAR_MS): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(oid(2, 5, 4, 3), der(0x0c, Buffer.from(host)))));
  const names = sequence(der(0x82, Buffer.from(host)), der(0x87, Buffer.from([127, 0, 0, 1])));
  const signedWith = sequence(oid(1, 2, 840, 10045, 4, 3, 2));
  const content = sequence(
    der(0xa0, der(2, Buffer.from([2]))),
    der(2, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    signedWith,
    name,
    sequence(time(untilMs - 2 * YEAR_MS), time(untilMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid(2, 5, 29, 17), der(4, names)))),
  );
  const signature = der(3, Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)]));
  return {
    certificate: pem('CERTIFICATE', sequence(content, signedWith, signature)),
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    privateKey,
  };
}

/** Writes certificate and key into a folder; returns their paths. With a password the key is encrypted. */
export function writeCertificate(folder: string, made: TestCertificate, password?: string) {
  const [certificatePath, keyPath] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const cipher = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc' } as const;
  const key = password === undefined ? made.key : made.privateKey.export({ ...cipher, passphrase: password });
  writeFileSync(certificatePath, made.certificate);
  writeFileSync(keyPath, key);
  return { certificatePath, keyPath };
}

/** A value of the distinguished encoding rules (X.690). */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const bytes = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function set(part: Buffer): Buffer {
  return der(0x31, part);
}

function oid(first: number, second: number, ...rest: readonly number[]): Buffer {
  const bytes = rest.flatMap((arc) => {
    const groups = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return der(6, Buffer.from([first * 40 + second, ...bytes]));
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]/g, '').slice(0, 14);
  return der(0x18, Buffer.from(`${digits}Z`));
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
