import { execFile } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ip = (...args: string[]) => run('ip', args);

/** The place of one container in a network. */
export interface Place {
  /** The name of its network namespace. */
  readonly network: string;
  readonly address: string;
}

/** A bridge of this machine to which containers with network namespaces of their own are connected. Leads nowhere else. */
export class Network {
  readonly #name = `pv${randomBytes(3).toString('hex')}`;
  readonly #prefix = `10.${randomInt(200, 250)}.${randomInt(256)}`;
  readonly #places: Place[] = [];
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  /** The address of this machine. */
  readonly host = `${this.#prefix}.1`;

  private constructor() {}

  static async open(): Promise<Network> {
    const network = new Network();
    await ip('link', 'add', network.#name, 'type', 'bridge');
    await ip('address', 'add', `${network.host}/24`, 'dev', network.#name);
    await ip('link', 'set', network.#name, 'up');
    return network;
  }

  async add(): Promise<Place> {
    const number = this.#places.length + 2;
    const [name, address] = [`${this.#name}-${number}`, `${this.#prefix}.${number}`];
    await ip('netns', 'add', name);
    this.#places.push({ network: name, address });
    await ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    await ip('link', 'set', name, 'master', this.#name, 'up');
    await ip('-n', name, 'address', 'add', `${address}/24`, 'dev', 'eth0');
    for (const device of ['lo', 'eth0']) await ip('-n', name, 'link', 'set', device, 'up');
    return { network: name, address };
  }

  /** Listens on `port` of `address`, an address of this machine, and forwards each connection to `to`. */
  async forward(address: string, port: number, to: { host: string; port: number }): Promise<void> {
    const server = createServer((incoming) => {
      const outgoing = connect(to);
      for (const [from, into] of [
        [incoming, outgoing],
        [outgoing, incoming],
      ] as const) {
        this.#sockets.add(from);
        from.pipe(into);
        from.on('error', () => into.destroy());
        from.on('close', () => {
          this.#sockets.delete(from);
          into.destroy();
        });
      }
    }).listen(port, address);
    this.#servers.push(server);
    await once(server, 'listening');
  }

  async close(): Promise<void> {
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
    for (const { network } of this.#places) await ip('netns', 'delete', network);
    await ip('link', 'delete', this.#name);
  }
}
