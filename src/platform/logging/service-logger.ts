import { styleText } from 'node:util';
import type { LoggerService } from '@nestjs/common';
import { pino } from 'pino';
import type { Environment } from '../env/environment.js';
import { currentRequest } from '../http/request-context.js';
import { hideConfiguredSecrets, HIDDEN, withoutSecrets } from '../redaction/secrets.js';
import { REPLICA_NAME } from '../build.js';
import { visibleLines, visibleText } from '../redaction/visible-text.js';
import { currentSpan } from '../tracing/tracing.js';

/** Nest classes that log every module and route at startup. They log at debug level, so that an operator sees the important lines. */
const STARTUP_DETAILS = /^(NestFactory|NestApplication|InstanceLoader|RoutesResolver|RouterExplorer)$/;

/** Fields that always contain secrets, up to two levels deep. */
const SECRET_FIELDS = [
  ...['authorization', 'ApiKey', 'apiKey', 'key', 'secret', 'password', 'startUrl', 'cookie'],
  ...['token', 'accessToken', 'access_token', 'clientSecret', 'client_secret'],
].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

const STANDARD_OUTPUT = 1;

/** How much waits in memory for a reader of the log that does not read. Further lines are lost. */
const MOST_HELD_BYTES = 4_194_304;
/** For how long a full pipe may delay the process, and how often. A reader that is only slow then loses no line of a process that ends. */
const MOST_WAIT_MS = 500;
const WAITS_EVERY_MS = 10_000;

/**
 * Writes synchronously, so that the line about an error that ends the process is not lost. A line that cannot be written, for example to a
 * full disk, is lost: it is not an error of the code that logs it. A reader that does not read holds nobody up: the lines wait for it, and
 * are written with the next one.
 */
export function destinationTo(dest: number): pino.DestinationStream {
  let waitsSince = -Infinity;
  const retryEAGAIN = (): boolean => {
    const now = performance.now();
    if (now - waitsSince > WAITS_EVERY_MS) waitsSince = now;
    return now - waitsSince < MOST_WAIT_MS;
  };
  const options = { dest, sync: true, maxLength: MOST_HELD_BYTES, retryEAGAIN };
  // Without the listener, the code that logs would throw. After other errors, the destination would hold the line, and all later ones.
  const open = (): ReturnType<typeof pino.destination> =>
    pino.destination(options).on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code !== 'EAGAIN') destination = open();
    });
  let destination = open();
  return { write: (line) => void destination.write(line) };
}

/** The further lines of a text are indented, so that they do not look like separate log lines. */
const INDENT = ' '.repeat(4);
const COLOURS = { fatal: 'red', error: 'red', warn: 'yellow', info: 'green', debug: 'gray' } as const;

type LogRecord = Readonly<Record<string, unknown>> & { level: keyof typeof COLOURS; time: string };

const jsonLine = (line: string): string => `${visibleText(withoutSecrets(line.trimEnd()))}\n`;

/** Returns the log line about a refusal to start, for use before the logger is configured. */
export const refusalLine = (message: string, role = 'all'): string => {
  const time = new Date().toISOString();
  const record = { level: 'fatal', time, role, replica: REPLICA_NAME, context: 'Process', message };
  return jsonLine(JSON.stringify(record)).trimEnd();
};

/** Returns a log line for people: time, level, context and message, then further fields, then a stack. */
function prettyLine(line: string): string {
  const { level, time, context, message, stack, ...fields } = JSON.parse(line) as LogRecord;
  const label = level.toUpperCase().padEnd(5);
  const parts = [context && `[${text(context)}]`, message, Object.keys(fields).length > 0 && fields];
  const first = parts.filter(Boolean).map(text).join(' ');
  const rest = [first, stack].filter(Boolean).map(text).join('\n');
  // The label does not pass through visibleLines, which would escape the colour.
  const shown = process.stdout.isTTY ? styleText(COLOURS[level], label) : label;
  return `${time} ${shown} ${visibleLines(withoutSecrets(rest), INDENT)}\n`;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Nest's logger on pino. Adds the current request and trace to each line, removes secrets and escapes control characters. */
export class ServiceLogger implements LoggerService {
  private readonly pino: pino.Logger;

  constructor(environment: Environment, destination = destinationTo(STANDARD_OUTPUT)) {
    hideConfiguredSecrets(environment);
    const { LOG_FORMAT, LOG_LEVEL: level, ROLE: role } = environment;
    const toLine = LOG_FORMAT === 'json' ? jsonLine : prettyLine;
    const options: pino.LoggerOptions = {
      level,
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      base: LOG_FORMAT === 'json' ? { role, replica: REPLICA_NAME } : null,
      formatters: { level: (level) => ({ level }) },
      mixin: () => ({ ...currentRequest(), ...currentSpan() }),
      redact: { paths: SECRET_FIELDS, censor: HIDDEN },
    };
    this.pino = pino(options, { write: (line) => destination.write(toLine(line)) });
  }

  fatal = (message: unknown, ...rest: unknown[]): void => this.write('fatal', message, rest);
  error = (message: unknown, ...rest: unknown[]): void => this.write('error', message, rest);
  warn = (message: unknown, ...rest: unknown[]): void => this.write('warn', message, rest);
  log = (message: unknown, ...rest: unknown[]): void =>
    this.write(STARTUP_DETAILS.test(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  debug = (message: unknown, ...rest: unknown[]): void => this.write('debug', message, rest);
  verbose = this.debug;

  /** `rest` comes from Nest: the stack of an error, if there is one, and the name of the class that logs. */
  private write(level: pino.Level, message: unknown, rest: readonly unknown[]): void {
    const [context, stack] = [...rest].reverse();
    if (message instanceof Error) this.pino[level]({ context, stack: message.stack }, message.message);
    else if (typeof message === 'object') this.pino[level]({ context, ...message });
    else this.pino[level]({ context, stack }, `${message as string}`);
  }
}
