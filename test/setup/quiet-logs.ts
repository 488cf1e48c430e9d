import { Logger } from '@nestjs/common';
import type { ServiceLogger } from '../../src/platform/logging/service-logger.js';

/** What a service under test logs is what the test provokes. `LOG_LEVEL=debug npm test -- <file>` shows it. */
const { LOG_LEVEL } = process.env;

if (LOG_LEVEL === undefined) Logger.overrideLogger(false);

export const wantedLogLevel = LOG_LEVEL === undefined ? {} : { LOG_LEVEL };

export function quieten(logger: ServiceLogger): ServiceLogger {
  if (LOG_LEVEL === undefined) logger.setLogLevels([]);
  return logger;
}
