import { bearerToken } from '../auth/authorizer.ts';
import type { AuthenticatePeer, PeerHead } from '../exchange.ts';

/** The token of an upgrade request: that of its Authorization header, or the parameter `token` of its query. */
export function tokenOfUpgrade({ authorization, query }: PeerHead): string | undefined {
  return bearerToken(authorization) ?? new URLSearchParams(query).get('token') ?? undefined;
}

/** Recognizes clients by the token of their upgrade request. */
export function knowByToken(knows: (token: string) => boolean | Promise<boolean>): AuthenticatePeer {
  return (head) => {
    const token = tokenOfUpgrade(head);
    return token !== undefined && knows(token);
  };
}
