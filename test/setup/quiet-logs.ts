import { Logger } from '@nestjs/common';

/** Silences the logs of tests. `LOG_LEVEL=debug npm test -- <file>` shows the logs. */
const { LOG_LEVEL } = process.env;

if (LOG_LEVEL === undefined) Logger.overrideLogger(false);

export const wantedLogLevel = LOG_LEVEL === undefined ? {} : { LOG_LEVEL };
