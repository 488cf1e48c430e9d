import { ReadText } from '../http/validation.js';
import {
  ArrayMaxSize,
  IsIn,
  IsInt,
  IsOptional,
  IsTimeZone,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
} from 'class-validator';
import {
  HeaderText,
  HttpUrl,
  PostgresUrl,
  ProxyUrl,
  readNumber,
  Range,
  Integer,
  Days,
  List,
  Flag,
  IsNetwork,
} from './environment-decorators.js';
import { LOCALES, type Locale } from './locale.rules.js';
import { withoutEndSlashes } from '../http/origins.rules.js';

const LARGEST_TIMER_MS = 2 ** 31 - 1;
const HOUR_MS = 3_600_000;

/** The configuration by variable name. Outside production, `local/` adds the database, the sandbox and the keys before validation. */
export class Environment {
  @IsIn(['development', 'test', 'production'])
  NODE_ENV: 'development' | 'test' | 'production' = 'development';

  @Matches(/^[\w.:-]+$/, { message: 'HOST must be an address or a host name' })
  HOST = '127.0.0.1';
  /** 0 selects a free port. */
  @Integer(0, 65535) PORT = 3000;
  /** If set, `/metrics` is served on this port instead of PORT. 0 selects a free port. */
  @IsOptional() @Integer(0, 65535) METRICS_PORT?: number;
  /** Stored as browsers write it, without a slash at its end. */
  @IsOptional()
  @ReadText((text) => withoutEndSlashes(URL.canParse(text) ? new URL(text).href : text))
  @Matches(/^[^\s@?#]+$/, { message: 'PUBLIC_URL must not contain credentials, a query or a fragment' })
  @HttpUrl()
  PUBLIC_URL?: string;

  /** `source` of every CloudEvent: a URI reference that names the deployment permanently, even if its address changes. Default: PUBLIC_URL. */
  @IsOptional()
  @MaxLength(1_000, { message: 'EVENT_SOURCE must be at most 1,000 characters long' })
  @Matches(/^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/, {
    message: 'EVENT_SOURCE must be a URI or a path such as /pv-onboarding',
  })
  EVENT_SOURCE: string;

  /** Whether `/docs` serves the guides and the reference of the API. Default: only outside production. */
  @IsOptional() @Flag() DOCS: boolean;
  /** Whether `/console` serves the console. Default: only outside production. */
  @IsOptional() @Flag() CONSOLE: boolean;
  /** The identity provider of the console's users. Without it, they sign in with an API key. */
  @IsOptional() @HttpUrl() CONSOLE_OIDC_ISSUER?: string;
  @IsOptional() @MinLength(1) CONSOLE_OIDC_CLIENT_ID?: string;
  @IsOptional() @MinLength(1) CONSOLE_OIDC_CLIENT_SECRET?: string;
  /** The scopes of each group: `group=scope,scope;group=scope`, or as JSON. Its scopes are checked by the console. */
  @IsOptional()
  @Matches(/^(?:\{.*\}|[^;]+=[a-z:, ]+(?:;[^;]+=[a-z:, ]+)*)$/s, {
    message:
      'CONSOLE_OIDC_GROUPS must be groups with scopes, such as operators=onboarding:read,events:read;leads=admin, or JSON such as {"CN=Leads": ["admin"]}',
  })
  CONSOLE_OIDC_GROUPS?: string;
  /** The limit per API key and process; 0 means no limit. */
  @Integer(0, 1_000_000) API_MAX_REQUESTS_PER_SECOND = 300;
  /** Proxies whose X-Forwarded-For is trusted: addresses or networks such as 10.0.0.0/8. */
  @IsOptional() @List() @IsNetwork() TRUSTED_PROXIES?: string[];

  @IsIn(['api', 'worker', 'all'])
  ROLE: 'api' | 'worker' | 'all' = 'all';

  @PostgresUrl() DATABASE_URL: string;
  /** The address for notifications and migrations, which need a dedicated connection. Default: DATABASE_URL. */
  @IsOptional() @PostgresUrl() DATABASE_DIRECT_URL: string;
  @Flag() DATABASE_PREPARED_STATEMENTS = true;
  @Integer(2, 500) DATABASE_POOL_SIZE = 10;

  @Matches(/^[^\s@?#]+$/, { message: 'SCS_BASE_URL must not contain credentials, a query or a fragment' })
  @HttpUrl()
  SCS_BASE_URL: string;
  @HeaderText() SCS_API_KEY: string;
  @MinLength(1) SCS_CLIENT_ID: string;
  @MinLength(1) SCS_CLIENT_SECRET: string;
  @MinLength(1) SCS_SCOPE = 'pvcurtailment';
  @IsIn(['auto', 'onboarding', 'user'])
  SCS_SESSION_PATH: 'auto' | 'onboarding' | 'user' = 'auto';
  @Integer(100, 120_000) SCS_TIMEOUT_MS = 10_000;
  @Integer(1, 10_000) SCS_MAX_CONCURRENCY = 32;
  /** The limit for all replicas together; 0 means no limit. */
  @Integer(0, 1_000_000) SCS_MAX_REQUESTS_PER_SECOND = 0;
  /** What `/scs/{path}` passes on to the remote service: `METHOD pattern`, several separated by semicolons. */
  @IsOptional() @MinLength(1) SCS_PASS_THROUGH?: string;

  /** The authorities that may sign the certificate of the remote service, in place of the well-known ones. A renewed file is read again. */
  @IsOptional() @MinLength(1) SCS_CA_FILE?: string;
  /** The client certificate, with its chain, and its private key. */
  @IsOptional() @MinLength(1) SCS_CLIENT_CERT_FILE?: string;
  @IsOptional() @MinLength(1) SCS_CLIENT_KEY_FILE?: string;

  /** The outbound proxy for https:// addresses: the remote service, the identity provider and the collector of traces. */
  @IsOptional() @ProxyUrl() HTTPS_PROXY?: string;
  /** The same for http:// addresses. */
  @IsOptional() @ProxyUrl() HTTP_PROXY?: string;
  /** The hosts, domains, addresses and networks that are reached without a proxy, separated by commas; `*` means all. */
  @IsOptional() @MinLength(1) NO_PROXY?: string;

  /** How long a stopping process still serves requests while unready, so that load balancers first stop sending requests to it.
   * Default: 5000 in production, otherwise 0. */
  @IsOptional() @Integer(0, 300_000) SHUTDOWN_DELAY_MS: number;

  @HeaderText()
  @MinLength(32, { message: 'ADMIN_API_KEY must be at least 32 characters long' })
  ADMIN_API_KEY: string;

  @List()
  @Matches(/^[A-Za-z0-9+/]{43}=$/, {
    each: true,
    message:
      'ENCRYPTION_KEYS must be base64 keys of 32 bytes, separated by commas (openssl rand -base64 32 makes one)',
  })
  ENCRYPTION_KEYS: string[];

  @Integer(10, HOUR_MS) POLL_TICK_MS = 1_000;
  @Integer(10, LARGEST_TIMER_MS) POLL_MIN_INTERVAL_MS = 15_000;
  @Integer(10, LARGEST_TIMER_MS) POLL_MAX_INTERVAL_MS = 900_000;
  @Integer(1, 10_000) POLL_BATCH_SIZE = 500;
  @Integer(100, HOUR_MS) POLL_LEASE_MS = 60_000;
  @Range(0, 24 * 365) SETTLE_HOURS = 72;
  @Range(0, 365) LATE_ONLINE_DAYS = 7;
  /** After how many days a settled session is read again, to learn whether its inverters are still there. 0 means never. */
  @Range(0, 365) WATCH_ONLINE_DAYS = 7;

  /** How many days the observations of a closed session are stored. For this and the other RETENTION variables, 0 means for ever. */
  @Days() RETENTION_OBSERVATIONS_DAYS = 400;
  @Days() RETENTION_DELIVERIES_DAYS = 30;
  @Days() RETENTION_EVENTS_DAYS = 400;
  @Days() RETENTION_SESSIONS_DAYS = 0;
  /** How many days rejected and discarded registrations are stored. */
  @Days() RETENTION_REGISTRATIONS_DAYS = 400;
  /** How many days failed starts are stored. */
  @Days() RETENTION_STARTS_DAYS = 400;
  /** After how many days the rows of an ended campaign are emptied of personal data. */
  @Days() CAMPAIGN_ROWS_DAYS = 30;
  /** How many days audit entries are stored: longer than other data, because misuse is often discovered late. */
  @Days() RETENTION_AUDIT_DAYS = 730;

  /** The name under which owners know the tenant. Default: "Your energy supplier" in the language of the page. */
  @IsOptional() @MinLength(1) @MaxLength(100) BRAND_NAME?: string;
  /** The colour of the owner's page. Where it lacks contrast, it is made darker or lighter. */
  @Matches(/^#[\da-f]{6}$/i, { message: 'BRAND_COLOR must be a colour such as #0a5c36' })
  BRAND_COLOR = '#0a5c36';
  /** A file with the tenant's logo: SVG, PNG or WebP. */
  @IsOptional()
  @Matches(/\.(svg|png|webp)$/, { message: 'BRAND_LOGO_FILE must be the path of a .svg, .png or .webp file' })
  BRAND_LOGO_FILE?: string;
  /** The address at which an owner gets help. */
  @IsOptional() @HttpUrl() BRAND_SUPPORT_URL?: string;
  /** The address of the tenant's privacy statement. */
  @IsOptional() @HttpUrl() BRAND_PRIVACY_URL?: string;
  /** A JSON file with the tenant's own words on the owner's page. */
  @IsOptional() @MinLength(1) BRAND_TEXTS_FILE?: string;
  /** A JSON file with the names of brands of inverters, and what an owner needs for each. */
  @IsOptional() @MinLength(1) INVERTER_BRANDS_FILE?: string;
  /** The language of the owner's page if we have neither the language of the invitation nor that of the browser. */
  @IsIn(LOCALES)
  DEFAULT_LOCALE: Locale = 'en';
  /** How many days an invitation is valid. Applies if the request that creates it has no date. */
  @Integer(1, 366) INVITATION_TTL_DAYS = 90;
  /** What happens when an owner asks for a new link: `ask` the tenant, or `auto`: create an invitation for the tenant to send. */
  @IsIn(['ask', 'auto'])
  INVITATION_RENEWAL: 'ask' | 'auto' = 'ask';
  /** The origins to which an invitation may lead back, such as https://example.com. */
  @IsOptional()
  @List()
  @Matches(/^https:\/\/[^\/\s]+$/, {
    each: true,
    message: 'INVITATION_RETURN_ORIGINS must be origins such as https://example.com',
  })
  INVITATION_RETURN_ORIGINS?: string[];
  /** The hours after the creation of an invitation at which a reminder is due; 0 means no reminders. */
  @List(readNumber)
  @ArrayMaxSize(10)
  @IsInt({ each: true, message: 'REMINDER_SCHEDULE_HOURS must be whole numbers, separated by commas' })
  @Min(0, { each: true })
  @Max(366 * 24, { each: true })
  REMINDER_SCHEDULE_HOURS = [24, 72, 168];
  /** The local hours in which no reminder is due. */
  @Matches(/^(off|((?:[01]\d|2[0-3]):[0-5]\d)-(?!\2)(?:[01]\d|2[0-3]):[0-5]\d)$/, {
    message: 'REMINDER_QUIET_HOURS must be off, or two different times such as 21:00-08:00',
  })
  REMINDER_QUIET_HOURS = '21:00-08:00';
  /** The time zone of the owners. */
  @IsTimeZone({ message: 'TIME_ZONE must be the name of a time zone such as Europe/Amsterdam' })
  TIME_ZONE = 'Europe/Amsterdam';

  /** The largest file of a campaign. Default: 64 MiB. */
  @Integer(1_024, 10_737_418_240) CAMPAIGN_MAX_BYTES = 67_108_864;

  /** After how many hours an invitation is stalled if its owner has not opened it, or has not used it since. */
  @Range(0, 24 * 365) STALLED_INVITATION_HOURS = 72;
  /** After how many hours a started session is stalled if its owner has not completed it. A session lives for about a day. */
  @Range(0, 24 * 365) STALLED_OWNER_HOURS = 4;
  /** After how many hours a completed session is stalled if it is not online. Applies only if the usual time of its brand is not known. */
  @Range(0, 24 * 365) STALLED_INSTALLATION_HOURS = 72;

  @IsIn(['off', 'warn', 'enforce'])
  EAN_CHECK_DIGIT: 'off' | 'warn' | 'enforce' = 'warn';

  /** The addresses of the event broker. May contain a user and a password, or a token in place of the user. */
  @IsOptional()
  @Matches(/^(nats|tls):\/\/[^\s,/?#]+\/?(,(nats|tls):\/\/[^\s,/?#]+\/?)*$/, {
    message:
      'EVENT_BROKER_URL must be an address such as nats://user:password@host:4222, or several separated by commas',
  })
  EVENT_BROKER_URL?: string;
  /** The same for the broker as SCS_CA_FILE, SCS_CLIENT_CERT_FILE and SCS_CLIENT_KEY_FILE for the remote service. */
  @IsOptional() @MinLength(1) EVENT_BROKER_CA_FILE?: string;
  @IsOptional() @MinLength(1) EVENT_BROKER_CLIENT_CERT_FILE?: string;
  @IsOptional() @MinLength(1) EVENT_BROKER_CLIENT_KEY_FILE?: string;

  /** The waits between attempts to deliver to a webhook endpoint. Default: the schedule of Standard Webhooks, about 3 days. */
  @List(readNumber)
  @ArrayMaxSize(100)
  @IsInt({ each: true, message: 'WEBHOOK_RETRY_SCHEDULE_MS must be whole numbers, separated by commas' })
  @Min(0, { each: true })
  @Max(7 * 24 * HOUR_MS, { each: true })
  WEBHOOK_RETRY_SCHEDULE_MS = [
    5_000,
    300_000,
    ...[0.5, 2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
  ];
  /** Whether webhooks may be sent to loopback, private and other special addresses. Default: only outside production. */
  @IsOptional() @Flag() WEBHOOK_ALLOW_PRIVATE_ADDRESSES: boolean;
  /** Whether webhooks go through the outbound proxy, which then decides which addresses their names lead to. */
  @Flag() WEBHOOKS_VIA_PROXY = false;

  @IsIn(['error', 'warn', 'info', 'debug'])
  LOG_LEVEL: 'error' | 'warn' | 'info' | 'debug' = 'info';
  /** Default: `pretty` on a terminal, else `json`. */
  @IsIn(['pretty', 'json'])
  LOG_FORMAT: 'pretty' | 'json' = process.stdout.isTTY ? 'pretty' : 'json';
  @Flag() LOG_REQUESTS = false;

  /** If set, traces are exported to this collector over OTLP/HTTP. All other variables of OpenTelemetry are read only then. */
  @IsOptional() @HttpUrl() OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  /** The headers of requests to the collector of traces. They may contain a token. */
  @IsOptional()
  @Matches(/^[^,=]+=[^,]+(,[^,=]+=[^,]+)*$/, {
    message: 'OTEL_EXPORTER_OTLP_HEADERS must be name=value, several separated by commas',
  })
  OTEL_EXPORTER_OTLP_HEADERS?: string;
}
