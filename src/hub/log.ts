import { pino } from 'pino';

const LEVELS = {
  Fatal: 'fatal',
  Error: 'error',
  Warning: 'warn',
  Info: 'info',
  Debug: 'debug',
  Trace: 'trace',
} as const;

/** Structured log. Nothing is logged per location; such events are counted instead. */
export interface Log {
  debug(message: string, facts?: object): void;
  info(message: string, facts?: object): void;
  warn(message: string, facts?: object): void;
  error(message: string, facts?: object): void;
}

/** Logs to standard error, one JSON object per line. */
export function openLog(severity: keyof typeof LEVELS): Log {
  const logger = pino({ level: LEVELS[severity], base: null }, pino.destination({ dest: 2, sync: true }));
  return {
    debug: (message, facts = {}) => logger.debug(facts, message),
    info: (message, facts = {}) => logger.info(facts, message),
    warn: (message, facts = {}) => logger.warn(facts, message),
    error: (message, facts = {}) => logger.error(facts, message),
  };
}

/** Logs that the database stopped or resumed accepting writes. */
export function reportStore(log: Log, state: 'ok' | 'failing', error: unknown): void {
  if (state === 'ok') log.info('The database takes writes again');
  else log.error('The database does not take writes', { error: String(error) });
}
