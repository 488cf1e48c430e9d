import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { load, YAML11_SCHEMA } from 'js-yaml';
import { ENVIRONMENT_NAMES, readEnvironment } from '../../src/platform/env/read-environment.js';
import { STOP_WITHIN_MS } from '../../src/platform/shutdown/limits.js';
import { readPage, ROOT } from './readme.js';

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly env_file?: string;
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
}

/** The services of ours that are configured by `.env`. */
const CONFIGURED = ['migrate', 'api', 'worker'];

let text: string;
let services: Readonly<Record<string, Service>>;
let ours: readonly Service[];
beforeAll(async () => {
  text = await readPage('docker-compose.yml');
  ({ services } = load(text, { schema: YAML11_SCHEMA }) as { services: Readonly<Record<string, Service>> });
  ours = Object.values(services).filter(({ image }) => image === 'pv-onboarding');
});

/** Returns the lines of the comment at the head of the file that set variables, after the words `after`. */
const variablesOfHead = (after: string): Record<string, string> => {
  const head = text.slice(text.indexOf(after), text.indexOf('\nname:'));
  const lines = head.split('\n').filter((line) => /^# {3}[A-Z]/.test(line));
  return Object.fromEntries(
    lines.flatMap((line) => [...line.matchAll(/([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value])),
  );
};

/** Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}` as compose does. */
const interpolate = (value: string | number, variables: Readonly<Record<string, string>>): string =>
  String(value).replace(
    /\$\{([A-Z_]+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, kind?: string, rest?: string) => {
      const found = variables[name] ?? (kind === '-' ? rest : undefined);
      if (found === undefined) throw new Error(`${name} is not set`);
      return found;
    },
  );

const SECRETS = {
  POSTGRES_PASSWORD: 'letters0and1digits',
  ADMIN_API_KEY: 'administrator-key-of-32-characters',
  ENCRYPTION_KEYS: Buffer.alloc(32, 'key of this spec').toString('base64'),
};

const environmentOf = (service: Service, variables: Readonly<Record<string, string>>) =>
  readEnvironment(
    Object.fromEntries(
      Object.entries(service.environment ?? {}).map(([name, value]) => [name, interpolate(value, variables)]),
    ),
  );

describe('docker-compose.yml', () => {
  it('gives the service only variables that it knows, and all of .env', () => {
    for (const name of CONFIGURED) {
      const { environment, env_file } = services[name]!;
      expect(Object.keys(environment!).filter((variable) => !ENVIRONMENT_NAMES.includes(variable))).toEqual(
        [],
      );
      expect(env_file).toBe('.env');
    }
  });

  it('starts in production with the variables that its head names, which docs/deployment.md lists too', async () => {
    const named = Object.keys(variablesOfHead('# Two api'));
    const required = [...text.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name]) => name!);
    expect([...new Set(required)].sort()).toEqual(named.filter((name) => name !== 'NODE_ENV').sort());
    const page = await readPage('docs/deployment.md');
    const listed = /refuses to start without ([^.]*?)\. /s.exec(page)?.[1] ?? '';
    expect([...listed.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name!).sort()).toEqual(
      [...new Set(required)].sort(),
    );
    const remote = {
      SCS_BASE_URL: 'https://scs.example',
      SCS_API_KEY: 'key',
      SCS_CLIENT_ID: 'id',
      SCS_CLIENT_SECRET: 'secret',
    };
    for (const name of CONFIGURED)
      expect(environmentOf(services[name]!, { ...SECRETS, ...remote }).NODE_ENV).toBe('production');
  });

  it('starts with the sandbox as its head says', () => {
    const variables = variablesOfHead('# To use the sandbox');
    const environment = environmentOf(services.api!, { ...SECRETS, ...variables });
    const { SANDBOX_PORT, SANDBOX_ALLOWED_HOSTS, SANDBOX_PUBLIC_URL } = services.sandbox!.environment!;
    expect(environment.SCS_BASE_URL).toBe(`http://${SANDBOX_ALLOWED_HOSTS}:${SANDBOX_PORT}`);
    expect(services.sandbox!.ports).toEqual([
      `127.0.0.1:${new URL(String(SANDBOX_PUBLIC_URL)).port}:${SANDBOX_PORT}`,
    ]);
    expect(text.slice(0, text.indexOf('\nname:'))).toContain('--profile sandbox');
  });

  it('runs commands and files that exist', async () => {
    const dockerfile = await readPage('Dockerfile');
    const files = ours.flatMap(({ command = [] }) => command).filter((word) => word.startsWith('dist/'));
    const cmd = /CMD \["node", "(dist\/[^"]+)"\]/.exec(dockerfile)?.[1];
    for (const file of [...files, cmd!, 'dist/cli/main.js'])
      expect([file, existsSync(new URL(file.replace('dist', 'src').replace('.js', '.ts'), ROOT))]).toEqual([
        file,
        true,
      ]);
    expect(files).toHaveLength(1);
    expect(services.migrate!.command).toEqual(['pv-onboarding', 'migrate']);
    expect(dockerfile).toContain('dist/cli/main.js /usr/local/bin/pv-onboarding');
    for (const [path] of Object.values(services).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(':')),
    ))
      if (path!.startsWith('./')) expect([path, existsSync(new URL(path!, ROOT))]).toEqual([path, true]);
  });

  it('builds once, and gives our processes no more than they need', () => {
    expect(ours.filter(({ build }) => build !== undefined)).toHaveLength(1);
    for (const service of ours)
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
    for (const name of CONFIGURED)
      expect(Number.parseInt(services[name]!.stop_grace_period ?? '') * 1_000).toBeGreaterThanOrEqual(
        5_000 + STOP_WITHIN_MS.process,
      );
  });

  it('forwards to the port that the Dockerfile exposes, from the loopback only', async () => {
    const { PORT } = services.api!.environment!;
    expect(await readPage('Dockerfile')).toContain(`EXPOSE ${PORT}\n`);
    expect(services.proxy!.command).toContain(`--to api:${PORT}`);
    const published = Object.values(services).flatMap(({ ports = [] }) => ports);
    expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });

  it('has the profiles that the documents name', async () => {
    const profiles = Object.values(services).flatMap((service) => service.profiles ?? []);
    const pages = await Promise.all(['docs/deployment.md', 'docs/operations.md'].map(readPage));
    const named = [...`${pages.join('')}${text}`.matchAll(/--profile ([a-z]+)/g)].map(
      ([, profile]) => profile,
    );
    expect(new Set(named)).toEqual(new Set(profiles));
  });
});

describe('ops/grafana', () => {
  it('is provisioned with the Prometheus of the profile and the dashboard where Grafana looks for it', async () => {
    const parse = async (name: string) => load(await readPage(`ops/grafana/provisioning/${name}`));
    const { datasources } = (await parse('datasources/prometheus.yml')) as {
      datasources: readonly { type: string; url: string }[];
    };
    const published = services.prometheus!.ports![0]!.split(':').at(-1);
    expect(datasources).toMatchObject([{ type: 'prometheus', url: `http://prometheus:${published}` }]);
    const { providers } = (await parse('dashboards/pv-onboarding.yml')) as {
      providers: readonly { options: { path: string } }[];
    };
    const { volumes, profiles, environment } = services.grafana!;
    const target = `${providers[0]!.options.path}/pv-onboarding.json`;
    expect(volumes).toEqual([
      './ops/grafana/provisioning:/etc/grafana/provisioning:ro',
      `./ops/grafana/pv-onboarding.json:${target}:ro`,
    ]);
    expect(environment!.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH).toBe(target);
    expect(profiles).toEqual(services.prometheus!.profiles);
  });
});

describe('ops/prometheus', () => {
  it('scrapes the services at their port for metrics', async () => {
    const { scrape_configs, rule_files } = load(await readPage('ops/prometheus/prometheus.yml')) as {
      scrape_configs: readonly { dns_sd_configs: readonly { names: readonly string[]; port: number }[] }[];
      rule_files: readonly string[];
    };
    const { names, port } = scrape_configs[0]!.dns_sd_configs[0]!;
    expect(names.map((name) => services[name]!.environment!.METRICS_PORT)).toEqual([port, port]);
    expect(rule_files).toEqual(['alerts.yml']);
  });
});
