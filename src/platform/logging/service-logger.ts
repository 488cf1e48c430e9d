import { ConsoleLogger, type LogLevel } from '@nestjs/common';
import type { Environment } from '../env/environment.js';
import { currentRequest } from '../http/request-context.js';
import { hideConfiguredSecrets, withoutSecrets } from '../redaction/secrets.js';

const LEVELS: Record<Environment['LOG_LEVEL'], LogLevel[]> = {
  error: ['fatal', 'error'],
  warn: ['fatal', 'error', 'warn'],
  info: ['fatal', 'error', 'warn', 'log'],
  debug: ['fatal', 'error', 'warn', 'log', 'debug', 'verbose'],
};

/** Nest tells every module and route at each start, which buries what an operator looks for. */
const STARTUP_DETAILS = new Set<unknown>([
  'NestFactory',
  'NestApplication',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
]);

/** Nest's logger, with the request a line belongs to, and with every known secret taken out as the last step before writing. */
export class ServiceLogger extends ConsoleLogger {
  constructor(environment: Environment) {
    const json = environment.LOG_FORMAT === 'json';
    super({
      logLevels: LEVELS[environment.LOG_LEVEL],
      json,
      colors: !json && process.stdout.isTTY,
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
    return withoutSecrets(super.stringifyJsonLogObject(...parts));
  }

  protected override formatMessage(...parts: Parameters<ConsoleLogger['formatMessage']>): string {
    return withoutSecrets(super.formatMessage(...parts));
  }

  protected override printStackTrace(stack: string): void {
    if (stack) super.printStackTrace(withoutSecrets(stack));
  }
}
