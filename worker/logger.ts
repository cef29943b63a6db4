import type { Logger as TemporalLogger, LogMetadata } from '@temporalio/common';
import { pino, type Logger } from 'pino';

/** One JSON object for each line; the level as a word, the time as people write it. */
export const createLogger = (level: string): Logger =>
  pino({
    level,
    base: { app: 'keelson-worker' },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: pino.stdSerializers.err },
    redact: { paths: ['taskToken'], remove: true },
  });

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Carries the lines of Temporal, of workflows and of activities, with the ids that they come with, into ours. */
export function temporalLogger(logger: Logger): TemporalLogger {
  const write = (level: keyof typeof LEVELS, message: string, meta?: LogMetadata): void =>
    logger[LEVELS[level]](meta ?? {}, message);
  return {
    log: write,
    trace: (message, meta) => write('TRACE', message, meta),
    debug: (message, meta) => write('DEBUG', message, meta),
    info: (message, meta) => write('INFO', message, meta),
    warn: (message, meta) => write('WARN', message, meta),
    error: (message, meta) => write('ERROR', message, meta),
  };
}
