import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { endServer, listen } from '../../setup/receivers/servers.js';
import { CREDENTIALS } from '../../setup/test-environment.js';

export interface ReceivedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Respond = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** Starts a remote service that issues tokens, and responds to every other call with `respond`, once its body has arrived. */
export async function startPassedService() {
  const tokens: string[] = [];
  const calls: ReceivedCall[] = [];
  const state = {
    tokens,
    calls,
    /** How many requests began, whether their bodies arrived or not. */
    begun: 0,
    aborted: 0,
    /** If false, a body is not read before `respond`. */
    readsBodies: true,
    respond: ((_request, response) => response.end('{}')) as Respond,
    isValid: (token: string): boolean => token === tokens.at(-1),
  };
  const read = async (request: IncomingMessage): Promise<string> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    return Buffer.concat(parts).toString();
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    if (url === '/api/v1/ssa/oauth/token') {
      await read(request);
      tokens.push(`access-token-canary-${tokens.length + 1}`);
      const body = { access_token: tokens.at(-1), expires_in: 1_209_600, token_type: 'pvcurtailment' };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
    state.begun++;
    request.on('error', () => {});
    response.on('close', () => (state.aborted += response.writableFinished ? 0 : 1));
    const body = state.readsBodies ? await read(request) : '';
    calls.push({ method, path: url, headers, body });
    if (state.isValid(headers.authorization?.replace('Bearer ', '') ?? ''))
      return state.respond(request, response, body);
    response.writeHead(401, { 'www-authenticate': 'Bearer', 'content-type': 'application/json' }).end('{}');
  };
  const server = createServer((request, response) => void serve(request, response).catch(() => {}));
  return Object.assign(state, {
    environment: {
      ...CREDENTIALS,
      SCS_BASE_URL: `http://127.0.0.1:${await listen(server)}`,
    },
    close: () => endServer(server),
  });
}

export type PassedService = Awaited<ReturnType<typeof startPassedService>>;
