import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ServiceLogger } from '../../../src/observability/logging/service-logger.js';
import { environmentFor } from '../../setup/test-environment.js';
/** Clears the screen twice (ESC [ and CSI), returns the carriage, and overrides the text direction. */
const HOSTILE = '\u001b[2J\u009b2J\r\u202ename';
/** Any control or format character except a line feed. */
const CONTROL = /[^\P{Cc}\n]|\p{Cf}/u;

const written: string[] = [];
afterEach(() => {
  jest.restoreAllMocks();
  written.length = 0;
});

describe('a log line', () => {
  const log = (format: 'pretty' | 'json', write: (logger: ServiceLogger) => void): string => {
    const environment = environmentFor('postgresql://none@127.0.0.1/none', { LOG_FORMAT: format });
    write(new ServiceLogger(environment, { write: (line) => written.push(line) }));
    return written.join('');
  };

  it.each(['pretty', 'json'] as const)('in %s contains no control characters', (format) => {
    const error = new Error(`${HOSTILE}\n[pv-onboarding] 1  - forged`);
    const output = log(format, (logger) => {
      logger.warn(`of data: ${HOSTILE}\n[pv-onboarding] 1  - forged`, 'Test');
      logger.error(error.message, error.stack, 'Test');
      logger.error(error);
      logger.warn({ of: HOSTILE });
    });
    expect(output).not.toMatch(CONTROL);
    expect(output).toContain('\\u001b[2J\\u009b2J');
    expect(output).not.toMatch(/^\[pv-onboarding\] 1 {2}- forged/m);
  });
});
