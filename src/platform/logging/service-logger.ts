import { ConsoleLogger, type LogLevel } from '@nestjs/common';
import type { Environment } from '../env/environment.js';
import { currentRequest } from '../http/request-context.js';
import { secretFilter } from './secret-filter.js';

const LEVELS: Record<Environment['LOG_LEVEL'], LogLevel[]> = {
  error: ['fatal', 'error'],
  warn: ['fatal', 'error', 'warn'],
  info: ['fatal', 'error', 'warn', 'log'],
  debug: ['fatal', 'error', 'warn', 'log', 'debug', 'verbose'],
};

/** Nest's logger, with the request a line belongs to, and with every known secret taken out as the last step before writing. */
export class ServiceLogger extends ConsoleLogger {
  private readonly withoutSecrets: (text: string) => string;

  constructor(environment: Environment) {
    const json = environment.LOG_FORMAT === 'json';
    super({ logLevels: LEVELS[environment.LOG_LEVEL], json, colors: !json && process.stdout.isTTY, prefix: 'pv-onboarding' });
    this.withoutSecrets = secretFilter(environment);
  }

  protected override getJsonLogObject(...parts: Parameters<ConsoleLogger['getJsonLogObject']>) {
    const { timestamp, ...record } = super.getJsonLogObject(...parts);
    return { time: new Date(timestamp).toISOString(), timestamp, ...record, ...currentRequest() };
  }

  protected override stringifyJsonLogObject(
    ...parts: Parameters<ConsoleLogger['stringifyJsonLogObject']>
  ): ReturnType<ConsoleLogger['stringifyJsonLogObject']> {
    return this.withoutSecrets(super.stringifyJsonLogObject(...parts));
  }

  protected override formatMessage(...parts: Parameters<ConsoleLogger['formatMessage']>): string {
    return this.withoutSecrets(super.formatMessage(...parts));
  }

  protected override printStackTrace(stack: string): void {
    if (stack) super.printStackTrace(this.withoutSecrets(stack));
  }
}
