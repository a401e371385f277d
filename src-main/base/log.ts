import { type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;

/** Keys whose values never reach a log, at any depth the log is asked to write. */
const secretKeys = [
  'token',
  'authorization',
  'secret',
  'key',
  'content',
  'payload',
  'ops',
  'merge_authorization',
  'query',
  'value',
];

/**
 * A log of JSON lines on standard error. It takes messages and ids; the values of secret-bearing keys are replaced,
 * one and two levels deep, in case a caller slips.
 */
export function openLog(level: 'debug' | 'info' | 'warn' | 'error' | 'silent'): Log {
  const paths = secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]);
  return pino({ level, base: null, redact: { paths, censor: '[redacted]' } }, pino.destination({ fd: 2, sync: true }));
}

/** A log that keeps silent, for tests and for command lines with `--json`. */
export const silentLog: Log = pino({ level: 'silent' });
