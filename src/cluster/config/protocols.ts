import { MessageError } from '../messages/codec.ts';

/**
 * Versions of the protocol between hubs that this release reads and writes. The `join` of a hub lists them. A cluster starts with
 * version 1. As soon as all members support the next version, the first member appends the record that switches to it, and the
 * cluster never goes back. The new version writes that record and later snapshots. A hub that does not support the
 * version of the cluster does not start; so a release that can no longer read the older version does not join before the switch.
 *
 * To add a version: list it here, next to the one before, and write what that cannot read only while `ConfigState.protocol` is
 * high enough. The release after that drops the older one.
 */
export const PROTOCOLS: readonly number[] = [1];

/** Throws a MessageError that begins with `what` unless the version of the cluster is one of the supported ones. */
export function checkProtocol(what: string, version: unknown, supported: readonly number[]): void {
  if (supported.includes(version as number)) return;
  const found = JSON.stringify(version);
  throw new MessageError(
    `${what}: the cluster uses version ${found} of its protocol, but this hub supports ${supported.join(', ')}`,
  );
}
