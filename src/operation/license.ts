import { PUBLIC_KEYS, type VerifiedKey, verifyLicenseKey } from '../auth/license_key.ts';
import { hubError } from '../errors.ts';
import { checker } from '../model/check.ts';
import { type LicenseLease, type LicenseInfo, LicenseKeyBody } from '../model/license.ts';
import { formatTime } from '../model/time.ts';

const DAY_MS = 86_400_000;
const TRIAL_MS = 30 * DAY_MS;
/** How long before its end a license is warned of. */
const WARNING_MS = 14 * DAY_MS;

const BODY = checker(LicenseKeyBody);

/** Stored license: a key that was set over the API, and the start of a trial. */
export interface KeptLicense {
  readonly key?: string;
  readonly trialStartMs?: number;
}

export interface LicenseOptions {
  now(): number;
  readonly hubId: string;
  /** From the configuration. A key set over the API takes precedence. */
  readonly configuredKey: string | undefined;
  readonly kept: KeptLicense;
  /** Stores the license. Rejects with HUB_UNAVAILABLE. */
  keep(license: KeptLicense): Promise<void>;
  /** Public keys of the configuration. */
  readonly publicKeys: readonly string[];
}

/** Result for a key while there is no public key. */
const UNVERIFIABLE = Symbol('nothing can verify the key');

/**
 * The license, for information only. The hub needs none, and nothing depends on it: a key is verified and reported, and
 * an invalid one yields a warning. Without a public key, any key is accepted and stored.
 */
export class License {
  readonly #options: LicenseOptions;
  #kept: KeptLicense;
  /** Settles with the last change. Changes run sequentially. */
  #changed: Promise<void> = Promise.resolve();
  /** The key in use, or why it is invalid; undefined without a key. */
  #verified: VerifiedKey | string | typeof UNVERIFIABLE | undefined;

  /** Starts without a key. `open` also verifies the stored or configured one. */
  constructor(options: LicenseOptions) {
    this.#options = options;
    this.#kept = options.kept;
  }

  static async open(options: LicenseOptions): Promise<License> {
    const license = new License(options);
    await license.#verify();
    return license;
  }

  info(): LicenseInfo {
    const nowMs = this.#options.now();
    const verified = this.#verified;
    const trial = this.#trialInfo(nowMs);
    if (verified === undefined) return { state: 'none', info: 'No license key is set; the hub needs none.', ...trial };
    const info = 'The hub needs no license key and works as ever.';
    if (typeof verified === 'string')
      return { state: 'invalid', info, warning: `The license key does not verify: ${verified}.`, ...trial };
    if (verified === UNVERIFIABLE) {
      const warning = 'Nothing can verify the license key while license_public_keys is empty.';
      return { state: 'unverifiable', info, warning, ...trial };
    }
    const { development_info, custom_info, exp, nbf } = verified.claims;
    const warning = warningOf(verified, nowMs);
    return {
      state: stateOf(verified, nowMs),
      info: infoOf(verified, nowMs),
      ...(warning !== undefined && { warning }),
      ...(nbf !== undefined && { begins_at: timeOf(nbf) }),
      ...{ ends_at: timeOf(exp), grace_ends_at: formatTime(graceEndMs(verified)) },
      ...trial,
      ...(development_info !== undefined && { development_info }),
      ...(custom_info !== undefined && { custom_info }),
    };
  }

  /**
   * Throws HUB_LICENSE_INVALID or HUB_LICENSE_EXPIRED for such a key, HUB_LICENSE_NOT_STARTED without key and trial.
   */
  lease(): LicenseLease {
    const nowMs = this.#options.now();
    const verified = this.#verified;
    const { trialStartMs } = this.#kept;
    // A key that is not verified does not end a trial.
    if (typeof verified !== 'object' && trialStartMs !== undefined) return this.#trialLease(trialStartMs, nowMs);
    if (verified === undefined) {
      throw hubError('no_license');
    }
    if (typeof verified === 'string')
      throw hubError('license_key_invalid', { operation: 'get_lease' }, { detail: verified });
    if (verified === UNVERIFIABLE) throw hubError('license_unverifiable');
    return this.#keyLease(verified, nowMs);
  }

  /** Starts a trial, unless one was started before. */
  async startTrial(): Promise<LicenseLease> {
    const nowMs = this.#options.now();
    if (this.#kept.trialStartMs === undefined) {
      await this.#change((kept) => ({ ...kept, trialStartMs: kept.trialStartMs ?? nowMs }));
    }
    return this.#trialLease(this.#kept.trialStartMs ?? nowMs, nowMs);
  }

  /**
   * Sets the key in a request body. Rejects with HUB_BAD_REQUEST, or HUB_LICENSE_INVALID for a key that the public keys
   * do not verify.
   */
  async setKey(body: unknown): Promise<void> {
    const key = BODY.parse(body).license_key;
    const verified = await this.#verifiedKey(key);
    if (typeof verified === 'string')
      throw hubError('license_key_invalid', { operation: 'set_license_key' }, { detail: verified });
    await this.#change((kept) => ({ ...kept, key }));
  }

  /** Deletes the trial and the key that was set over the API. */
  async giveBack(): Promise<void> {
    await this.#change(() => ({}));
  }

  #change(revise: (kept: KeptLicense) => KeptLicense): Promise<void> {
    const changed = this.#changed.then(async () => {
      const license = revise(this.#kept);
      await this.#options.keep(license);
      this.#kept = license;
      await this.#verify();
    });
    this.#changed = changed.catch(() => undefined);
    return changed;
  }

  async #verify(): Promise<void> {
    const key = this.#kept.key ?? this.#options.configuredKey;
    this.#verified = key === undefined ? undefined : await this.#verifiedKey(key);
  }

  async #verifiedKey(key: string): Promise<VerifiedKey | string | typeof UNVERIFIABLE> {
    const { hubId } = this.#options;
    const publicKeys = [...PUBLIC_KEYS, ...this.#options.publicKeys];
    return publicKeys.length === 0 ? UNVERIFIABLE : await verifyLicenseKey(key, { hubId, publicKeys });
  }

  #trialInfo(nowMs: number): Pick<LicenseInfo, 'trial_info' | 'trial_ends_at'> {
    const { trialStartMs } = this.#kept;
    if (trialStartMs === undefined) return {};
    const endMs = trialStartMs + TRIAL_MS;
    const end = formatTime(endMs);
    return { trial_info: `The trial ${nowMs < endMs ? 'ends' : 'ended'} on ${end}.`, trial_ends_at: end };
  }

  #trialLease(startMs: number, nowMs: number): LicenseLease {
    const endMs = startMs + TRIAL_MS;
    if (nowMs >= endMs) {
      throw hubError('trial_ended', { time: formatTime(endMs) });
    }
    const end = formatTime(endMs);
    return {
      hub_instance_id: this.#options.hubId,
      customer_email: '',
      lease_end_timestamp: end,
      grace_period_timestamp: end,
      is_trial: true,
      trial_end_timestamp: end,
    };
  }

  #keyLease(verified: VerifiedKey, nowMs: number): LicenseLease {
    const { email, exp, grace_exp: _grace, nbf: _nbf, hub_instance_id: _hub, ...more } = verified.claims;
    if (nowMs >= graceEndMs(verified)) {
      throw hubError('license_expired', { time: timeOf(exp) });
    }
    const warning = warningOf(verified, nowMs);
    return {
      hub_instance_id: this.#options.hubId,
      customer_email: email,
      lease_end_timestamp: timeOf(exp),
      grace_period_timestamp: formatTime(graceEndMs(verified)),
      signature: verified.signature,
      is_trial: false,
      trial_end_timestamp: null,
      ...(warning !== undefined && { lease_warning: warning }),
      ...more,
    };
  }
}

function stateOf(verified: VerifiedKey, nowMs: number): LicenseInfo['state'] {
  const { exp, nbf = 0 } = verified.claims;
  if (nowMs >= graceEndMs(verified)) return 'expired';
  if (nowMs >= exp * 1000) return 'in_grace';
  if (nowMs >= exp * 1000 - WARNING_MS) return 'expiring';
  return nowMs < nbf * 1000 ? 'not_begun' : 'valid';
}

function infoOf({ claims: { exp, nbf } }: VerifiedKey, nowMs: number): string {
  if (nbf !== undefined && nowMs < nbf * 1000) return `The license begins on ${timeOf(nbf)}; the hub needs none.`;
  if (nowMs < exp * 1000) return `The license is valid until ${timeOf(exp)}.`;
  return 'The license has expired; the hub needs none and works as ever.';
}

function warningOf(verified: VerifiedKey, nowMs: number): string | undefined {
  const { exp } = verified.claims;
  if (nowMs >= graceEndMs(verified)) return `The license expired on ${timeOf(exp)}.`;
  if (nowMs >= exp * 1000) {
    return `The license expired on ${timeOf(exp)}; its grace period ends on ${formatTime(graceEndMs(verified))}.`;
  }
  return nowMs >= exp * 1000 - WARNING_MS ? `The license expires on ${timeOf(exp)}.` : undefined;
}

function graceEndMs({ claims: { exp, grace_exp: graceExp = exp } }: VerifiedKey): number {
  return Math.max(exp, graceExp) * 1000;
}

function timeOf(seconds: number): string {
  return formatTime(seconds * 1000);
}
