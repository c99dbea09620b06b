import { type VerifiedKey, verifyLicenseKey } from '../auth/license_key.ts';
import { hubError } from '../errors.ts';
import { checker } from '../model/check.ts';
import { type LicenseLease, type LicenseInfo, LicenseKeyBody } from '../model/license.ts';
import { formatTime } from '../model/time.ts';

const DAY_MS = 86_400_000;
const TRIAL_MS = 30 * DAY_MS;
/** Time before the end of a license at which warnings start. */
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
  /** Key in the configuration. A key set over the API takes precedence. */
  readonly configuredKey: string | undefined;
  readonly stored: KeptLicense;
  /** Stores the license. Rejects with HUB_UNAVAILABLE. */
  keep(license: KeptLicense): Promise<void>;
  /** Public keys in the configuration. Without any, all keys are accepted and stored without verification. */
  readonly publicKeys: readonly string[];
}

/**
 * The license, for information only. The hub needs none and restricts nothing: a key is verified and reported, and an
 * invalid one causes a warning.
 */
export class License {
  readonly #options: LicenseOptions;
  #kept: KeptLicense;
  /** Settles with the last change. Changes run sequentially. */
  #changed: Promise<void> = Promise.resolve();
  /** The verified key, or why it is invalid; undefined without a key or without public keys. */
  #verified: VerifiedKey | string | undefined;

  /** Creates the license without verifying a key; `open` also verifies the stored or configured one. */
  constructor(options: LicenseOptions) {
    this.#options = options;
    this.#kept = options.stored;
  }

  static async open(options: LicenseOptions): Promise<License> {
    const license = new License(options);
    await license.#use(options.stored);
    return license;
  }

  info(): LicenseInfo {
    const trial = this.#trialInfo();
    const verified = this.#verified;
    if (this.#key === undefined) return { state: 'none', info: 'No license key is set; the hub needs none.', ...trial };
    const info = 'The hub needs no license key and works as ever.';
    if (typeof verified === 'string')
      return { state: 'invalid', info, warning: `The license key does not verify: ${verified}.`, ...trial };
    if (verified === undefined) {
      const warning = 'Nothing can verify the license key while license_public_keys is empty.';
      return { state: 'unverifiable', info, warning, ...trial };
    }
    const { development_info, custom_info, exp, nbf } = verified.claims;
    return {
      ...termOf(verified, this.#options.now()),
      ...(nbf !== undefined && { begins_at: timeOf(nbf) }),
      ...{ ends_at: timeOf(exp), grace_ends_at: timeOf(graceEnd(verified)) },
      ...trial,
      ...(development_info !== undefined && { development_info }),
      ...(custom_info !== undefined && { custom_info }),
    };
  }

  /**
   * Returns the effective license. Throws HUB_LICENSE_INVALID or HUB_LICENSE_EXPIRED for such a key, or
   * HUB_LICENSE_NOT_STARTED without a key and trial.
   */
  lease(): LicenseLease {
    const verified = this.#verified;
    const { trialStartMs } = this.#kept;
    if (typeof verified === 'object') return this.#keyLease(verified);
    // A key that is not verified does not end a trial.
    if (trialStartMs !== undefined) return this.#trialLease(trialStartMs);
    if (this.#key === undefined) throw hubError('no_license');
    if (verified === undefined) throw hubError('license_unverifiable');
    throw hubError('license_key_invalid', { operation: 'get_lease' }, { detail: verified });
  }

  /** Starts a trial, unless one was started before. */
  async startTrial(): Promise<LicenseLease> {
    const nowMs = this.#options.now();
    if (this.#kept.trialStartMs === undefined) await this.#change((kept) => ({ trialStartMs: nowMs, ...kept }));
    return this.#trialLease(this.#kept.trialStartMs ?? nowMs);
  }

  /**
   * Sets the key in a request body. Rejects with HUB_BAD_REQUEST, or with HUB_LICENSE_INVALID if the public keys do not
   * verify the key.
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

  get #key(): string | undefined {
    return this.#kept.key ?? this.#options.configuredKey;
  }

  #change(revise: (kept: KeptLicense) => KeptLicense): Promise<void> {
    const changed = this.#changed.then(async () => {
      const license = revise(this.#kept);
      await this.#options.keep(license);
      await this.#use(license);
    });
    this.#changed = changed.catch(() => undefined);
    return changed;
  }

  async #use(license: KeptLicense): Promise<void> {
    this.#verified = await this.#verifiedKey(license.key ?? this.#options.configuredKey);
    this.#kept = license;
  }

  async #verifiedKey(key: string | undefined): Promise<VerifiedKey | string | undefined> {
    const { hubId, publicKeys } = this.#options;
    if (key === undefined || publicKeys.length === 0) return undefined;
    return verifyLicenseKey(key, { hubId, publicKeys });
  }

  #trialInfo(): Pick<LicenseInfo, 'trial_info' | 'trial_ends_at'> {
    const { trialStartMs } = this.#kept;
    if (trialStartMs === undefined) return {};
    const endMs = trialStartMs + TRIAL_MS;
    const end = formatTime(endMs);
    return {
      trial_info: `The trial ${this.#options.now() < endMs ? 'ends' : 'ended'} on ${end}.`,
      trial_ends_at: end,
    };
  }

  #trialLease(startMs: number): LicenseLease {
    const { now, hubId } = this.#options;
    const end = formatTime(startMs + TRIAL_MS);
    if (now() >= startMs + TRIAL_MS) throw hubError('trial_ended', { time: end });
    return {
      hub_instance_id: hubId,
      customer_email: '',
      lease_end_timestamp: end,
      grace_period_timestamp: end,
      is_trial: true,
      trial_end_timestamp: end,
    };
  }

  #keyLease(verified: VerifiedKey): LicenseLease {
    const { email, exp, grace_exp: _grace, nbf: _nbf, hub_instance_id: _hub, ...more } = verified.claims;
    const { state, warning } = termOf(verified, this.#options.now());
    if (state === 'expired') throw hubError('license_expired', { time: timeOf(exp) });
    return {
      hub_instance_id: this.#options.hubId,
      customer_email: email,
      lease_end_timestamp: timeOf(exp),
      grace_period_timestamp: timeOf(graceEnd(verified)),
      signature: verified.signature,
      is_trial: false,
      trial_end_timestamp: null,
      ...(warning !== undefined && { lease_warning: warning }),
      ...more,
    };
  }
}

/** Returns the state of a license at a time, with its texts. */
function termOf(verified: VerifiedKey, nowMs: number): Pick<LicenseInfo, 'state' | 'info' | 'warning'> {
  const { exp, nbf = 0 } = verified.claims;
  const end = timeOf(exp);
  if (nowMs >= exp * 1000) {
    const info = 'The license has expired; the hub needs none and works as ever.';
    const expired = `The license expired on ${end}`;
    const graceEnds = graceEnd(verified);
    if (nowMs >= graceEnds * 1000) return { state: 'expired', info, warning: `${expired}.` };
    return { state: 'in_grace', info, warning: `${expired}; its grace period ends on ${timeOf(graceEnds)}.` };
  }
  const hasBegun = nowMs >= nbf * 1000;
  const info = hasBegun
    ? `The license is valid until ${end}.`
    : `The license begins on ${timeOf(nbf)}; the hub needs none.`;
  if (nowMs >= exp * 1000 - WARNING_MS) return { state: 'expiring', info, warning: `The license expires on ${end}.` };
  return { state: hasBegun ? 'valid' : 'not_begun', info };
}

/** Returns the end of the grace period in seconds since 1970. */
function graceEnd({ claims: { exp, grace_exp: graceExp = exp } }: VerifiedKey): number {
  return Math.max(exp, graceExp);
}

function timeOf(seconds: number): string {
  return formatTime(seconds * 1000);
}
