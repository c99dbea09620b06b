import { errors, types } from 'cassandra-driver';
import { StartupError } from '../../errors.ts';
import type { WideColumnSettings } from './settings.ts';

const { responseErrorCodes: code } = types;

/** Labels of temporary database errors. */
const TRANSIENT = new Map<number, string>([
  [code.overloaded, 'overloaded'],
  [code.unavailableException, 'unavailable'],
  [code.isBootstrapping, 'bootstrapping'],
  [code.truncateError, 'truncating'],
  [code.writeTimeout, 'write_timeout'],
  [code.readTimeout, 'read_timeout'],
  [code.writeFailure, 'write_failure'],
  [code.readFailure, 'read_failure'],
  [code.serverError, 'server_error'],
]);

/**
 * Classifies a failed attempt: returns a label for statistics, and whether a retry soon may succeed, which is not the
 * case for unreachable hosts and timeouts.
 */
export function judge(error: unknown): { readonly reason: string; readonly isPassing: boolean } {
  const first = rootOf(error);
  if (first instanceof errors.ResponseError) {
    const reason = TRANSIENT.get(first.code);
    if (reason !== undefined) return { reason, isPassing: true };
    // Compatible databases report throttling with codes of their own.
    if (/rate|overload|throttl|too many/i.test(first.message)) return { reason: 'overloaded', isPassing: true };
    return { reason: 'refused', isPassing: false };
  }
  if (first instanceof errors.BusyConnectionError) return { reason: 'busy', isPassing: true };
  if (first instanceof errors.OperationTimedOutError) return { reason: 'no_answer', isPassing: false };
  return { reason: 'no_host', isPassing: false };
}

/** Returns the most informative error of all hosts: database errors take precedence over connection errors. */
export function rootOf(error: unknown): unknown {
  if (!(error instanceof errors.NoHostAvailableError)) return error;
  const inner: unknown[] = Object.values(error.innerErrors ?? {});
  const reported = inner.find(
    (each) => each instanceof errors.ResponseError || each instanceof errors.AuthenticationError,
  );
  return reported ?? inner.find((each) => each instanceof Error) ?? error;
}

/** Returns the error of a start that fails because of the database. */
export function refuse({ hosts, port }: WideColumnSettings, reason: string): StartupError {
  const place = hosts.map((host) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(', ');
  return new StartupError(`Cannot use the wide-column database at ${place}: ${reason.trim().replaceAll(/\s+/g, ' ')}`);
}

/** Converts an error into a StartupError with a plain reason. */
export function asStartupError(error: unknown, settings: WideColumnSettings): StartupError {
  return error instanceof StartupError ? error : refuse(settings, inWords(error));
}

/** Describes an error of the database in plain words. */
export function inWords(error: unknown): string {
  const first = rootOf(error);
  const { message, code: reason } = first as { message: string; code?: unknown };
  if (first instanceof errors.AuthenticationError || reason === code.badCredentials) {
    return `it does not let the user in: ${message}`;
  }
  if (first instanceof errors.OperationTimedOutError) return `it does not answer: ${message}`;
  if (first instanceof errors.NoHostAvailableError) return 'no host can be reached';
  if (typeof reason === 'string' && /^E[A-Z]+$/.test(reason)) return `no host answers: ${message}`;
  return message;
}
