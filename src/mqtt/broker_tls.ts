import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** TLS settings of a broker: paths of PEM files. Certificate and key are both set or both absent. */
export interface BrokerTls {
  readonly caPath: string | undefined;
  readonly certPath: string | undefined;
  readonly keyPath: string | undefined;
  readonly isVerified: boolean;
}

/**
 * Reads the TLS files. Called for each connection, so that replaced files take effect with the next one. Throws an
 * Error naming the setting for a file that cannot be read or is invalid.
 */
export function readTls({ caPath, certPath, keyPath, isVerified }: BrokerTls) {
  const ca = caPath === undefined ? undefined : certificateFrom('mqtt_ca_cert', caPath);
  const own = certPath === undefined || keyPath === undefined ? undefined : identityFrom(certPath, keyPath);
  return { rejectUnauthorized: isVerified, ...(ca && { ca: ca.text }), ...own };
}

function identityFrom(certPath: string, keyPath: string): { readonly cert: string; readonly key: string } {
  const cert = certificateFrom('mqtt_client_cert', certPath);
  const key = textOf('mqtt_client_key', keyPath);
  const privateKey = parsed(
    () => createPrivateKey(key),
    `mqtt_client_key: must be a private key in PEM, found ${keyPath}`,
  );
  if (!cert.first.checkPrivateKey(privateKey)) {
    throw new Error(`mqtt_client_key: must be the key of mqtt_client_cert (${certPath}), found ${keyPath}`);
  }
  return { cert: cert.text, key };
}

/** Returns the content of a file and the first certificate in it. */
function certificateFrom(setting: string, path: string): { readonly text: string; readonly first: X509Certificate } {
  const text = textOf(setting, path);
  return {
    text,
    first: parsed(() => new X509Certificate(text), `${setting}: must be a certificate in PEM, found ${path}`),
  };
}

function textOf(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${setting}: cannot read ${path}: ${(error as Error).message}`);
  }
}

function parsed<T>(parse: () => T, problem: string): T {
  try {
    return parse();
  } catch (error) {
    throw new Error(`${problem} (${(error as Error).message})`);
  }
}

/** Returns which setting causes a TLS error; undefined for other errors. */
export function tlsProblem(error: Error & { code?: unknown }, tls: BrokerTls | undefined): string | undefined {
  const { code, message } = error;
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'CERT_SIGNATURE_FAILURE':
      return tls?.caPath === undefined
        ? `mqtt_ca_cert: not set, and the machine does not vouch for the certificate of the broker (${message})`
        : `mqtt_ca_cert: ${tls.caPath} does not vouch for the certificate of the broker (${message})`;
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `the certificate of the broker is not valid now (${message})`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `mqtt_address: the certificate of the broker is for others (${message})`;
  }
  const [, reason] = /:SSL routines:[^:]*:([^:]+)/.exec(message) ?? [];
  if (reason === undefined) return undefined;
  if (!/alert .*(certificate|unknown ca|handshake failure)/.test(reason)) {
    return `mqtt_tls: what answers there does not speak TLS as the hub does (${reason})`;
  }
  return tls?.certPath === undefined
    ? `mqtt_client_cert: not set, but the broker asks for one (${reason})`
    : `mqtt_client_cert: the broker refuses ${tls.certPath} (${reason})`;
}
