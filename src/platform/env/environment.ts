import { isIP } from 'node:net';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsUrl,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateBy,
} from 'class-validator';

const LARGEST_TIMER_MS = 2 ** 31 - 1;
const HOUR_MS = 3_600_000;
const HEADER_TEXT = /^[\x21-\x7e]+$/;
const URL_RULES = { require_tld: false, require_protocol: true, protocols: ['http', 'https'] };
const URL_MESSAGE = { message: '$property must be a URL that begins with http:// or https://' };

/** Accepts plain decimal numbers only: `Number` would also accept 1e3, 0x10 and blanks. */
const number = () =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value,
  );
const list = () =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.split(',') : value));

const numbers = () =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string'
      ? value.split(',').map((each) => (/^\d+$/.test(each) ? Number(each) : each))
      : value,
  );
const boolean = () =>
  Transform(({ value }: { value: unknown }) =>
    value === 'true' || value === 'false' ? value === 'true' : value,
  );

const IsNetwork = () =>
  ValidateBy(
    {
      name: 'isNetwork',
      validator: {
        validate: (value) => typeof value === 'string' && isNetwork(value),
        defaultMessage: () =>
          '$property must be addresses or networks, separated by commas, such as 10.0.0.0/8,192.0.2.7',
      },
    },
    { each: true },
  );

function isNetwork(text: string): boolean {
  const [, address = '', prefix = '1'] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const version = isIP(address);
  // A prefix of 0 would trust every address.
  return version !== 0 && Number(prefix) >= 1 && Number(prefix) <= (version === 4 ? 32 : 128);
}

/**
 * The whole configuration, named like the variables. Outside production, embedded or generated defaults (database, sandbox, keys) are
 * filled in before validation; here such a value is simply required.
 */
export class Environment {
  @IsIn(['development', 'test', 'production'])
  NODE_ENV: 'development' | 'test' | 'production' = 'development';

  @Matches(/^[\w.:-]+$/, { message: 'HOST must be an address or a host name' })
  HOST: string = '127.0.0.1';

  /** 0 takes a free port. */
  @number()
  @IsInt()
  @Min(0)
  @Max(65535)
  PORT: number = 3000;

  @IsOptional()
  @IsUrl(URL_RULES, URL_MESSAGE)
  PUBLIC_URL?: string;

  /** `source` of every CloudEvent: a URI reference that names the deployment permanently, even if its address changes. */
  @MaxLength(1_000, { message: 'EVENT_SOURCE must be at most 1,000 characters long' })
  @Matches(/^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/, {
    message: 'EVENT_SOURCE must be a URI or a path such as /pv-onboarding',
  })
  EVENT_SOURCE: string = '/pv-onboarding';

  /** Whether `/docs` shows the API to people. Default: true outside production, false in production. */
  @boolean()
  @IsOptional()
  @IsBoolean({ message: 'DOCS must be true or false' })
  DOCS: boolean;

  /** Per API key and process; 0 means no ceiling. */
  @number()
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  API_MAX_REQUESTS_PER_SECOND: number = 300;

  /** Proxies whose X-Forwarded-For is trusted: addresses or networks such as 10.0.0.0/8. */
  @IsOptional()
  @list()
  @IsNetwork()
  TRUSTED_PROXIES?: string[];

  @IsIn(['api', 'worker', 'all'])
  ROLE: 'api' | 'worker' | 'all' = 'all';

  @Matches(/^postgres(ql)?:\/\/\S+$/, {
    message: 'DATABASE_URL must be a URL that begins with postgresql://',
  })
  DATABASE_URL: string;

  @number()
  @IsInt()
  @Min(2)
  @Max(500)
  DATABASE_POOL_SIZE: number = 10;

  @Matches(/^[^\s@?#]+$/, { message: 'SCS_BASE_URL must not hold credentials, a query or a fragment' })
  @IsUrl(URL_RULES, URL_MESSAGE)
  SCS_BASE_URL: string;

  @Matches(HEADER_TEXT, { message: 'SCS_API_KEY holds characters that no HTTP header takes' })
  SCS_API_KEY: string;

  @MinLength(1)
  SCS_CLIENT_ID: string;

  @MinLength(1)
  SCS_CLIENT_SECRET: string;

  @MinLength(1)
  SCS_SCOPE: string = 'pvcurtailment';

  @IsIn(['auto', 'onboarding', 'user'])
  SCS_SESSION_PATH: 'auto' | 'onboarding' | 'user' = 'auto';

  @number()
  @IsInt()
  @Min(100)
  @Max(120_000)
  SCS_TIMEOUT_MS: number = 10_000;

  @number()
  @IsInt()
  @Min(1)
  @Max(10_000)
  SCS_MAX_CONCURRENCY: number = 32;

  /** 0 means no ceiling. */
  @number()
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  SCS_MAX_REQUESTS_PER_SECOND: number = 0;

  @Matches(HEADER_TEXT, { message: 'ADMIN_API_KEY holds characters that no HTTP header takes' })
  @MinLength(32, { message: 'ADMIN_API_KEY must be at least 32 characters long' })
  ADMIN_API_KEY: string;

  @list()
  @ArrayNotEmpty()
  @Matches(/^[A-Za-z0-9+/]{43}=$/, {
    each: true,
    message:
      'ENCRYPTION_KEYS must be base64 keys of 32 bytes, separated by commas (openssl rand -base64 32 makes one)',
  })
  ENCRYPTION_KEYS: string[];

  @number()
  @IsInt()
  @Min(10)
  @Max(HOUR_MS)
  POLL_TICK_MS: number = 1_000;

  @number()
  @IsInt()
  @Min(10)
  @Max(LARGEST_TIMER_MS)
  POLL_MIN_INTERVAL_MS: number = 15_000;

  @number()
  @IsInt()
  @Min(10)
  @Max(LARGEST_TIMER_MS)
  POLL_MAX_INTERVAL_MS: number = 900_000;

  @number()
  @IsInt()
  @Min(1)
  @Max(10_000)
  POLL_BATCH_SIZE: number = 500;

  @number()
  @IsInt()
  @Min(100)
  @Max(HOUR_MS)
  POLL_LEASE_MS: number = 60_000;

  @number()
  @Min(0)
  @Max(24 * 365)
  SETTLE_HOURS: number = 72;

  @number()
  @Min(0)
  @Max(365)
  LATE_ONLINE_DAYS: number = 7;

  @IsIn(['off', 'warn', 'enforce'])
  EAN_CHECK_DIGIT: 'off' | 'warn' | 'enforce' = 'warn';

  /** May contain a user and a password, or a token in place of the user. */
  @IsOptional()
  @Matches(/^(nats|tls):\/\/[^\s,/?#]+\/?(,(nats|tls):\/\/[^\s,/?#]+\/?)*$/, {
    message:
      'EVENT_BROKER_URL must be an address such as nats://user:password@host:4222, or several separated by commas',
  })
  EVENT_BROKER_URL?: string;

  /**
   * The wait after each failed attempt to deliver an event to a webhook endpoint; after the last one the delivery is given up. Default: the
   * schedule of Standard Webhooks, about 3 days. The first attempt is made at once.
   */
  @numbers()
  @ArrayMaxSize(100)
  @IsInt({ each: true, message: 'WEBHOOK_RETRY_SCHEDULE_MS must be whole numbers, separated by commas' })
  @Min(0, { each: true })
  @Max(7 * 24 * HOUR_MS, { each: true })
  WEBHOOK_RETRY_SCHEDULE_MS: number[] = [
    5_000,
    300_000,
    ...[0.5, 2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
  ];

  /**
   * Whether webhooks may be sent to loopback, private and other special addresses. Default: true outside production, false in production.
   */
  @boolean()
  @IsOptional()
  @IsBoolean({ message: 'WEBHOOK_ALLOW_PRIVATE_ADDRESSES must be true or false' })
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: boolean;

  @IsIn(['error', 'warn', 'info', 'debug'])
  LOG_LEVEL: 'error' | 'warn' | 'info' | 'debug' = 'info';

  /** Default: `pretty` on a terminal, else `json`. */
  @IsIn(['pretty', 'json'])
  LOG_FORMAT: 'pretty' | 'json' = process.stdout.isTTY ? 'pretty' : 'json';
}
