import { StartupError } from '../../errors.ts';
import type { ClusterContext } from '../context.ts';
import type { StreamSettings } from '../nats/bus.ts';
import type { ConfigMember } from '../config/config_state.ts';

/**
 * Checks before a hub joins a cluster: NATS must be reachable, and the hub's settings must agree with the existing streams and
 * the running members. Every failure is a StartupError that names the settings.
 */
export interface Applicant extends ClusterContext, Pick<StreamSettings, 'replicas' | 'storage'> {
  /** Settings that all hubs must share, as `name: value`. */
  readonly alike: readonly string[];
  /** Digest of these settings. */
  readonly digest: string;
}

/** Streams that all hubs share. */
const SHARED = ['CONFIG', 'SNAP', 'STATE'];
/** Time that NATS may take to become reachable when the hub starts. */
const REACH_MS = 10_000;
/** Time that a member may take to answer a ping. */
const ALIVE_MS = 1000;
/** Error of a server that cannot store that many replicas. */
const TOO_MANY_COPIES = /replicas > 1 not supported|no suitable peers|insufficient resources/i;
/** Errors that no server will resolve, however many join. */
const NEVER_DONE = /not supported|already in use|overlap/i;

/** Resolves once a server is reached. Rejects with a StartupError if that takes too long. */
export function reached({ bus, schedule }: Pick<ClusterContext, 'bus' | 'schedule'>): Promise<void> {
  return new Promise((resolve, reject) => {
    let why = 'not connected yet';
    const cancel = schedule(REACH_MS, () => {
      unwatch();
      reject(new StartupError(unreachable(why)));
    });
    const unwatch = bus.watch((status) => {
      if (status.at === 'down') why = status.why;
      else {
        cancel();
        unwatch();
        resolve();
      }
    });
  });
}

/** Reason why NATS is unreachable, as a line for the user. */
function unreachable(why: string): string {
  if (/ENOENT|EACCES/.test(why)) return `Cannot read a file by which this hub signs in to NATS: ${why}`;
  const isRefused = /auth|credential|nkey|permission/i.test(why);
  if (!isRefused) return `cluster_servers: cannot reach NATS: ${why}`;
  const by = 'cluster_credentials_path, cluster_nkey_path, or cluster_username and cluster_password';
  return `NATS does not let this hub sign in by ${by}: ${why}`;
}

/** Throws if the shared streams were created with other settings. */
export async function checkStreams({ bus, name, replicas, storage }: Applicant): Promise<void> {
  const names = SHARED.map((stream) => `${name}_${stream}`);
  for (const found of (await bus.streams(`${name}_`)).filter((stream) => names.includes(stream.name))) {
    if (found.replicas !== replicas) {
      const copies = `must be ${found.replicas}, as stream "${found.name}" was made`;
      throw new StartupError(`cluster_replicas: ${copies}, found ${replicas}`);
    }
    if (found.storage !== storage) {
      const where = `must be ${found.storage}, as stream "${found.name}" was made`;
      throw new StartupError(`cluster_storage: ${where}, found ${storage}`);
    }
  }
}

/**
 * Throws if a live member has other settings. Members that do not answer are about to be expelled, so their settings no longer
 * matter.
 */
export async function checkMembers(members: Iterable<ConfigMember>, applicant: Applicant): Promise<void> {
  const { incarnation, hubName, digest, alike, notice } = applicant;
  const others = [...members].filter((member) => member.incarnation !== incarnation);
  const odd = others.filter((member) => member.digest !== digest || member.name === hubName);
  const isAlive = await Promise.all(odd.map((member) => answers(member, applicant)));
  const alive = odd.filter((_, index) => isAlive[index]);
  const differing = alive.filter((member) => member.digest !== digest).map(({ name }) => `"${name}"`);
  if (differing.length > 0) {
    const others = `${differing.length > 1 ? 'Hubs' : 'Hub'} ${differing.join(', ')}`;
    const what = 'settings that must be alike in all hubs of a cluster';
    throw new StartupError(
      `${others} of cluster "${applicant.name}" and this one differ in ${what}: ${alike.join(', ')}`,
    );
  }
  for (const { name, incarnation: its } of alive) {
    notice(
      `cluster_hub_name: another hub (${its}) has the name "${name}" as well; health and usage cannot distinguish them`,
    );
  }
}

async function answers({ incarnation }: ConfigMember, { bus, name }: Applicant): Promise<boolean> {
  const asking = { timeoutMs: ALIVE_MS, read: () => undefined };
  const answer = await bus.request(pingSubject(name, incarnation), new Uint8Array(), asking);
  return answer.at === 'answered';
}

/** Subject that pings a member, which answers with a heartbeat. */
export function pingSubject(name: string, incarnation: string): string {
  return `${name}.in.${incarnation}.ping`;
}

/** Whether the error is permanent, so that a retry is pointless. */
export function isForGood({ message }: Error): boolean {
  return NEVER_DONE.test(message);
}

/** Reason why the hub cannot join, as an error for its user. */
export function startupError(error: Error, { name, replicas }: Applicant): StartupError {
  if (error instanceof StartupError) return error;
  if (TOO_MANY_COPIES.test(error.message)) {
    const what = `NATS cannot keep ${replicas} ${replicas === 1 ? 'copy' : 'copies'} of each stream`;
    return new StartupError(`cluster_replicas: ${what}: ${error.message}`, { cause: error });
  }
  return new StartupError(`Cannot join cluster "${name}": ${error.message}`, { cause: error });
}
