import { bearerToken } from '../auth/authorizer.ts';
import type { AuthenticatePeer, PeerHead } from '../exchange.ts';

/**
 * Returns the token of an upgrade request: from the Authorization header, otherwise from the query parameter `token`.
 */
export function tokenOfUpgrade({ authorization, query }: PeerHead): string | undefined {
  return bearerToken(authorization) ?? new URLSearchParams(query).get('token') ?? undefined;
}

/** Returns a function that authenticates clients by the token of their upgrade request. */
export function knowByToken(knows: (token: string) => boolean | Promise<boolean>): AuthenticatePeer {
  return (head) => {
    const token = tokenOfUpgrade(head);
    return token !== undefined && knows(token);
  };
}
