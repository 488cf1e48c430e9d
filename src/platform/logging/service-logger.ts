import { inspect } from 'node:util';
import { ConsoleLogger, type LogLevel } from '@nestjs/common';
import type { Environment } from '../env/environment.js';
import { currentRequest } from '../http/request-context.js';
import { hideConfiguredSecrets, withoutSecrets } from '../redaction/secrets.js';
import { visibleLines, visibleText } from '../redaction/visible-text.js';

const LEVELS: Record<Environment['LOG_LEVEL'], LogLevel[]> = {
  error: ['fatal', 'error'],
  warn: ['fatal', 'error', 'warn'],
  info: ['fatal', 'error', 'warn', 'log'],
  debug: ['fatal', 'error', 'warn', 'log', 'debug', 'verbose'],
};

/** Nest logs every module and route at each start, which hides the lines that an operator needs. */
const STARTUP_DETAILS = new Set<unknown>([
  'NestFactory',
  'NestApplication',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
]);

/** The further lines of a text are indented, so that they do not look like separate log lines. */
const INDENT = ' '.repeat(4);

/**
 * Nest's logger, plus the request of each line. Unprintable characters are made visible, and as the last step before writing every known
 * secret is removed.
 */
export class ServiceLogger extends ConsoleLogger {
  constructor(environment: Environment) {
    const json = environment.LOG_FORMAT === 'json';
    super({
      logLevels: LEVELS[environment.LOG_LEVEL],
      json,
      // Nest colours by default, even when writing to a file.
      colors: !json && process.stdout.isTTY === true,
      prefix: 'pv-onboarding',
    });
    hideConfiguredSecrets(environment);
  }

  override log(message: unknown, ...rest: unknown[]): void {
    if (STARTUP_DETAILS.has(rest.at(-1))) this.debug(message, ...rest);
    else super.log(message, ...rest);
  }

  protected override getJsonLogObject(...parts: Parameters<ConsoleLogger['getJsonLogObject']>) {
    return { ...super.getJsonLogObject(...parts), ...currentRequest() };
  }

  protected override stringifyJsonLogObject(
    ...parts: Parameters<ConsoleLogger['stringifyJsonLogObject']>
  ): ReturnType<ConsoleLogger['stringifyJsonLogObject']> {
    return visibleText(withoutSecrets(super.stringifyJsonLogObject(...parts)));
  }

  /** Runs before Nest adds its colours, which are escapes too. */
  protected override stringifyMessage(message: unknown, logLevel: LogLevel): string {
    const resolved = this.resolveMessage(message);
    const text = typeof resolved === 'string' ? resolved : inspect(resolved);
    return this.colorize(visibleLines(withoutSecrets(text), INDENT), logLevel);
  }

  protected override formatMessage(...parts: Parameters<ConsoleLogger['formatMessage']>): string {
    return withoutSecrets(super.formatMessage(...parts));
  }

  protected override printStackTrace(stack: string): void {
    if (stack) super.printStackTrace(visibleLines(withoutSecrets(stack), INDENT));
  }
}
