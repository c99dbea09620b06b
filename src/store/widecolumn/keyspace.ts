import { type Client, types } from 'cassandra-driver';
import type { KeyspaceLease } from './lease.ts';
import type { Sender, Statement, WriteRequest } from './sender.ts';

/** Connection and settings that all tables of a keyspace share. */
export interface Keyspace {
  readonly client: Client;
  /** Sends writes, whose timestamps come from the lease. */
  readonly sender: Sender;
  readonly lease: KeyspaceLease;
  /** Consistency level of reads. */
  readonly consistency: number;
}

/** Size of a value that is neither a string nor bytes. */
const VALUE_BYTES = 8;

/** Converts a whole number to a value of a bigint column. */
export function long(value: number): types.Long {
  return types.Long.fromNumber(value);
}

/** Returns a request of one statement. */
export function requestOf(query: string, params: Statement['params']): WriteRequest {
  const bytes = params.reduce<number>((sum, param) => sum + sizeOf(param), 0);
  return { statements: [{ query, params }], bytes, isLogged: false };
}

function sizeOf(param: unknown): number {
  return Buffer.isBuffer(param) || typeof param === 'string' ? param.length : VALUE_BYTES;
}
