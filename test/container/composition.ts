import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createSecrets,
  environmentOf,
  readCompose,
  writeSecrets,
  type Compose,
  type Service,
} from '../docs/compose.js';
import { waitFor } from '../setup/wait-for.js';
import { CONFIG, finishInImage, runInImage, type Container, type ImageProcess } from './image.js';
import { Network, type Place } from './network.js';

/** The image whose services run here. The other services have the address of this machine. */
const IMAGE = 'pv-onboarding';
const APPLIED =
  'image build pull_policy command environment env_file secrets depends_on deploy healthcheck read_only cap_drop security_opt tmpfs stop_grace_period';
/** Keys that change nothing here: no process is the first of a process namespace, none is restarted, and the test publishes ports. */
const WITHOUT_EFFECT = 'init restart profiles ports';
const KEYS = `${APPLIED} ${WITHOUT_EFFECT}`.split(' ');

export interface Replica extends ImageProcess {
  readonly address: string;
  readonly container: Container;
  /** Stops it as compose does. Returns the exit code. */
  end(): Promise<number | null>;
}

type Variables = Readonly<Record<string, string>>;

/** The services of docker-compose.yml that run our image, run as the file says, but without an engine. */
export class Composition {
  readonly #started = new Map<string, Promise<readonly Replica[]>>();

  private constructor(
    readonly compose: Compose,
    readonly network: Network,
    /** The folder with `secrets` and the file of host names. */
    readonly folder: string,
    private readonly dotEnv: Variables,
    private readonly places: Readonly<Record<string, readonly Place[]>>,
  ) {}

  /** Creates the network, and the secrets as docs/deployment.md says. `issued` are the secrets that the provider issues. */
  static async create(dotEnv: Variables, issued: Variables): Promise<Composition> {
    const compose = await readCompose();
    const folder = await mkdtemp(join(tmpdir(), 'pv-composition-'));
    await createSecrets(folder);
    await writeSecrets(folder, issued);
    const network = await Network.open();
    const places: Record<string, Place[]> = {};
    for (const [name, service] of Object.entries(compose.services)) {
      if (service.image !== IMAGE) continue;
      const unknown = Object.keys(service).filter((key) => !KEYS.includes(key));
      if (unknown.length > 0) throw new Error(`${name} has keys that are not applied: ${unknown.join(', ')}`);
      places[name] = [];
      for (let count = service.deploy?.replicas ?? 1; count > 0; count--)
        places[name].push(await network.add());
    }
    const hosts = Object.keys(compose.services).flatMap((name) =>
      (places[name] ?? [{ address: network.host }]).map(({ address }) => `${address} ${name}\n`),
    );
    await writeFile(join(folder, 'hosts'), ['127.0.0.1 localhost\n', ...hosts].join(''));
    return new Composition(compose, network, folder, dotEnv, places);
  }

  /** Starts a service after those that it depends on, as `docker compose up` does. */
  up(name: string): Promise<readonly Replica[]> {
    const started = this.#started.get(name) ?? this.#start(name);
    this.#started.set(name, started);
    return started;
  }

  /** Runs a command to its end in a container of a service, as `docker compose exec` and `docker compose run` do. */
  run(name: string, command: readonly string[]) {
    return finishInImage(command, this.#containerOf(this.#service(name), this.places[name]![0]!));
  }

  /** Waits until the health check of the image passes. Throws what the container printed if it does not. */
  async healthy({ container, output }: Replica): Promise<void> {
    const [, ...check] = CONFIG.Healthcheck.Test;
    const passes = async () => (await finishInImage(check, container)).code === 0;
    await waitFor('the container is healthy', passes, 60_000).catch((cause: unknown) => {
      throw new Error(`The container printed: ${output()}`, { cause });
    });
  }

  async close(): Promise<void> {
    const started = await Promise.allSettled(this.#started.values());
    const replicas = started.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    await Promise.all(replicas.map((replica) => replica.end()));
    await this.network.close();
    await rm(this.folder, { recursive: true });
  }

  async #start(name: string): Promise<readonly Replica[]> {
    const service = this.#service(name);
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {}))
      if (other in this.places) await this.#meet(other, condition);
    return this.places[name]!.map((place) => {
      const container = this.#containerOf(service, place);
      const command = service.command ?? CONFIG.Cmd;
      if (typeof command === 'string') throw new Error(`${name} has a command that needs a shell`);
      const started = runInImage(command, container);
      const graceMs = Number.parseInt(service.stop_grace_period ?? '10s') * 1_000;
      return { ...started, container, address: place.address, end: () => started.stop(graceMs) };
    });
  }

  async #meet(name: string, condition: string): Promise<void> {
    for (const replica of await this.up(name)) {
      if (condition !== 'service_completed_successfully')
        throw new Error(`${condition} of ${name} is unknown`);
      if ((await replica.exited) !== 0) throw new Error(`${name} failed: ${replica.output()}`);
    }
  }

  #service(name: string): Service {
    const service = this.compose.services[name];
    if (service?.image !== IMAGE) throw new Error(`${name} does not run our image`);
    return service;
  }

  #containerOf(service: Service, { network }: Place): Container {
    const secrets = (service.secrets ?? []).map((name) => [
      `/run/secrets/${name}`,
      join(this.folder, this.compose.secrets[name]!.file),
    ]);
    return {
      env: {
        ...(service.env_file === '.env' ? this.dotEnv : {}),
        ...environmentOf(service, this.dotEnv),
      },
      user: CONFIG.User,
      isReadOnly: service.read_only === true,
      hasCapabilities: !service.cap_drop?.includes('ALL'),
      mayGainPrivileges: !service.security_opt?.includes('no-new-privileges:true'),
      tmpfs: (service.tmpfs ?? []).map((line) => {
        const [path = '', options = 'mode=1777'] = line.split(':');
        return { path, options };
      }),
      files: { '/etc/hosts': join(this.folder, 'hosts'), ...Object.fromEntries(secrets) },
      network,
    };
  }
}
