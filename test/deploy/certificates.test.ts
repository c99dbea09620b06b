import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../documents/documents.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

/** The servers' certificate that the script creates for these hosts. */
function certificateFor(hosts: readonly string[]): X509Certificate {
  const folder = temporaryFolder();
  execFileSync('sh', [`${ROOT}deploy/certificates.sh`, folder, ...hosts], { stdio: 'ignore' });
  return new X509Certificate(readFileSync(join(folder, 'server.pem')));
}

test("The servers' certificate is valid for each of their names and addresses", () => {
  const names = ['nats-1', 'nats-1.example', '10.example', '1.2.3.example'];
  const addresses = ['192.168.7.11', '127.0.0.1', '::1', 'fd00::7:11'];
  const certificate = certificateFor([...names, ...addresses]);
  for (const name of names) assert.equal(certificate.checkHost(name), name);
  for (const address of addresses) assert.equal(certificate.checkIP(address), address);
  assert.equal(certificate.checkIP('192.168.7.12'), undefined);
  assert.doesNotMatch(certificate.subjectAltName ?? '', /DNS:[\d.:]+(,|$)/, 'no address is listed as a name');
});
