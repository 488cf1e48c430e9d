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
} from './compose-file.js';
import { waitFor } from '../setup/wait-for.js';
import {
  CONFIG,
  finishInContainer,
  finishInImage,
  runInImage,
  type Container,
  type ImageProcess,
} from './image.js';
import { Network, type Place } from './network.js';

/** The image of the services that this class runs. All other services of the file are replaced by the address of this machine. */
const IMAGE = 'pv-onboarding';
const APPLIED =
  'image build pull_policy command environment env_file secrets depends_on deploy healthcheck read_only cap_drop security_opt tmpfs stop_grace_period';
/**
 * Keys that these tests ignore. `init`: no process has the process id 1. `restart`: no process is restarted. `ports`: the test publishes
 * them. `profiles`: the test names the services that it runs.
 */
const WITHOUT_EFFECT = 'init restart profiles ports';
const KEYS = `${APPLIED} ${WITHOUT_EFFECT}`.split(' ');

interface Replica extends ImageProcess {
  readonly address: string;
  /** Runs a command to its end in this container, as `docker compose exec` does. */
  exec(command: readonly string[]): ReturnType<typeof finishInImage>;
  /** Waits until the health check of the image passes. Throws what the container printed if it does not. */
  healthy(): Promise<void>;
  /** Stops the container as compose does. Returns the exit code. */
  end(): Promise<number | null>;
}

type Variables = Readonly<Record<string, string>>;

/** The services of docker-compose.yml that run our image. They run with the settings of the file, but without a container engine. */
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

  async stop(name: string): Promise<void> {
    const replicas = await this.#started.get(name);
    this.#started.delete(name);
    await Promise.all((replicas ?? []).map((replica) => replica.end()));
  }

  /** Runs a command to its end in a new container of a service, as `docker compose run` does. Default: the command of the service. */
  run(name: string, command: readonly string[] = []) {
    const service = this.#service(name);
    const words = command.length > 0 ? command : this.#commandOf(name);
    return finishInImage(words, this.#containerOf(service, this.places[name]![0]!));
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#started.keys()].map((name) => this.stop(name)));
    await this.network.close();
    await rm(this.folder, { recursive: true });
  }

  async #start(name: string): Promise<readonly Replica[]> {
    const service = this.#service(name);
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {}))
      if (other in this.places) await this.#meet(other, condition);
    return this.places[name]!.map((place) => {
      const container = this.#containerOf(service, place);
      const started = runInImage(this.#commandOf(name), container);
      const graceMs = Number.parseInt(service.stop_grace_period ?? '10s') * 1_000;
      const exec = (words: readonly string[]) => finishInContainer(words, started.pid, container);
      return {
        ...started,
        address: place.address,
        exec,
        healthy: async () => {
          const [, ...check] = CONFIG.Healthcheck.Test;
          const passes = async () => (await exec(check)).code === 0;
          await waitFor(`${name} is healthy`, passes).catch((cause: unknown) => {
            throw new Error(`${name} printed: ${started.output()}`, { cause });
          });
        },
        end: () => started.stop(graceMs),
      };
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

  #commandOf(name: string): readonly string[] {
    const { command = CONFIG.Cmd } = this.#service(name);
    if (typeof command === 'string') throw new Error(`${name} has a command that is not a list`);
    return command;
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
