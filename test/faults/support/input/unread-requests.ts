import { connect, type Socket } from 'node:net';

export interface UnreadRequests {
  open(): number;
  leave(): void;
}

/** Sends the same pipelined requests over many connections, and reads no response. */
export async function sendUnread(
  url: string,
  connections: number,
  requests: string,
): Promise<UnreadRequests> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  for (let count = 0; count < connections; count += 1) {
    const socket = connect(Number(port), hostname).pause();
    socket.on('error', () => {});
    sockets.push(socket);
    await new Promise((resolve) => socket.write(requests, resolve));
  }
  return {
    open: () => sockets.filter(({ destroyed }) => !destroyed).length,
    leave: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
