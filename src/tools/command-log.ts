import { createLog, logFormat } from '../base/log.ts';
import type { Logger } from '../base/log.ts';
import type { Settings } from '../config/settings.ts';

/** The log of a command that talks to Kafka: its own output says what happens, so by default only errors are logged. */
export function commandLog({ LOG_LEVEL, LOG_FORMAT }: Pick<Settings, 'LOG_LEVEL' | 'LOG_FORMAT'>): Logger {
  return createLog(LOG_LEVEL === 'info' ? 'error' : LOG_LEVEL, {}, undefined, logFormat(LOG_FORMAT));
}
