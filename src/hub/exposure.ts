import type { Config } from '../config/schema.ts';
import type { Listening } from '../transport/server.ts';
import type { Log } from './log.ts';
import { messageOf } from '../errors.ts';

/** Settings that determine who can reach the hub. */
interface Reachable {
  readonly host: string;
  readonly require_authorization?: boolean;
  readonly public_key_path: string | null;
  readonly force_https: boolean;
}

/** Warns if the hub is reachable from other machines without authorization or TLS. */
export function warnOfExposure(settings: Reachable, log: Log): void {
  const { host, require_authorization: isAuthorized = false, public_key_path, force_https: isForced } = settings;
  if (isLoopback(host)) return;
  if (!isAuthorized) {
    const what = 'The hub can be reached from other machines, and anyone can read and change everything';
    log.warn(what, { host, advice: 'set require_authorization, or host to 127.0.0.1' });
  } else if (public_key_path === null || !isForced) {
    const what = 'The hub can be reached from other machines without TLS: access tokens can be read on their way';
    log.warn(what, { host, advice: 'set public_key_path, private_key_path and force_https, unless a proxy does TLS' });
  }
}

/** Settings of the connection to the cluster's NATS servers. */
type Clustered = Pick<
  Config,
  | 'cluster_servers'
  | 'cluster_credentials_path'
  | 'cluster_nkey_path'
  | 'cluster_username'
  | 'cluster_tls_ca_path'
  | 'cluster_tls_certificate_path'
>;

/** Warns if others can read or join the NATS traffic of a cluster. */
export function warnOfClusterExposure(config: Clustered, log: Log): void {
  const servers = config.cluster_servers.filter((server) => !isLoopback(hostIn(server)));
  const plain = config.cluster_tls_ca_path === null && config.cluster_tls_certificate_path === null;
  const unencrypted = plain ? servers.filter((server) => server.startsWith('nats://')) : [];
  if (unencrypted.length > 0) {
    const what = 'The hub reaches NATS without TLS: locations, and credentials by password, can be read on their way';
    log.warn(what, { servers: unencrypted, advice: 'set cluster_tls_ca_path, or tls:// in cluster_servers' });
  }
  const credentials = [
    config.cluster_credentials_path,
    config.cluster_nkey_path,
    config.cluster_username,
    config.cluster_tls_certificate_path,
  ];
  if (servers.length === 0 || credentials.some((credential) => credential !== null)) return;
  const what =
    'The hub signs in to NATS without credentials: anyone who reaches the servers can read and change everything';
  log.warn(what, { servers, advice: 'set cluster_credentials_path, cluster_nkey_path or cluster_username' });
}

function hostIn(server: string): string {
  return new URL(server).hostname.replace(/^\[|\]$/g, '');
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Settings of the client of an MQTT broker. */
interface MqttLogin {
  readonly mqtt_address: string | null;
  readonly mqtt_password: string | null;
  readonly mqtt_tls: boolean;
}

/** Warns if the password for the MQTT broker leaves this machine without TLS. */
export function warnOfMqttPassword(settings: MqttLogin, log: Log): void {
  const { mqtt_address: address, mqtt_password: password, mqtt_tls: isEncrypted } = settings;
  if (address === null || password === null || isEncrypted || isLoopback(address)) return;
  const what = 'The password for the MQTT broker is sent without TLS: others on the network can read it';
  log.warn(what, { mqtt_address: address, advice: 'set mqtt_tls, and the port of the broker for TLS' });
}

/** Time before the expiry of a certificate at which warnings start. */
const EXPIRY_WARNING_MS = 14 * 86_400_000;

export interface CertificateCareOptions {
  readonly log: Log;
  now(): number;
}

/** Reloads a changed certificate and logs the result. A recurring problem is logged once. */
export class CertificateCare {
  readonly #listening: Pick<Listening, 'certificate' | 'renewCertificate'>;
  readonly #options: CertificateCareOptions;
  #problem = '';
  #warned = '';

  constructor(listening: Pick<Listening, 'certificate' | 'renewCertificate'>, options: CertificateCareOptions) {
    this.#listening = listening;
    this.#options = options;
    this.#warnOfExpiry();
  }

  /** Checks the files. Never rejects: if the new certificate is invalid, the current one stays in use. */
  async look(): Promise<void> {
    const { log } = this.#options;
    try {
      if (await this.#listening.renewCertificate()) log.info('The certificate has changed, and is served from now on');
      this.#problem = '';
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== this.#problem) log.error('The certificate has changed, but is of no use', { error: problem });
      this.#problem = problem;
    }
    this.#warnOfExpiry();
  }

  #warnOfExpiry(): void {
    const { certificate } = this.#listening;
    if (certificate === undefined || certificate.digest === this.#warned) return;
    const leftMs = certificate.expiresMs - this.#options.now();
    if (leftMs > EXPIRY_WARNING_MS) return;
    this.#warned = certificate.digest;
    const facts = { file: certificate.files.certificatePath, until: new Date(certificate.expiresMs).toISOString() };
    this.#options.log.warn(leftMs > 0 ? 'The certificate expires soon' : 'The certificate has expired', facts);
  }
}
