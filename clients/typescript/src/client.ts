import createFetchClient, {
  type ClientPathsWithMethod,
  type FetchResponse,
  type MaybeOptionalInit,
  type Client as FetchClient,
} from 'openapi-fetch';
import type { components, paths } from './openapi.js';
import { readProblem } from './problem.js';

/** The types of all bodies, by the names in openapi.json. */
export type Schemas = components['schemas'];
export type User = Schemas['UserView'];
export type Registration = Schemas['RegistrationView'];
export type Session = Schemas['SessionView'];

type Method = 'get' | 'post' | 'patch' | 'delete';
type PathOf<M extends Method> = ClientPathsWithMethod<FetchClient<paths>, M>;
type Arguments<Init> = undefined extends Init ? [init?: Init] : [init: Init];

/** The result of a successful call. A call throws a ProblemError for every other response. */
type Success<P extends keyof paths, M extends Method, Init> = {
  readonly data: Extract<
    FetchResponse<paths[P][M] & object, Init, `${string}/${string}`>,
    { data: unknown }
  >['data'];
  readonly response: Response;
};

type Call<M extends Method> = <P extends PathOf<M>, Init extends MaybeOptionalInit<paths[P], M>>(
  path: P,
  ...init: Arguments<Init>
) => Promise<Success<P, M, Init>>;

/** Has one function per HTTP method. The paths and arguments of openapi.json are passed as in openapi-fetch. */
export interface Client {
  readonly GET: Call<'get'>;
  readonly POST: Call<'post'>;
  readonly PATCH: Call<'patch'>;
  readonly DELETE: Call<'delete'>;
}

export interface ClientOptions {
  /** The address of the service, without `/api/v1`. */
  readonly baseUrl: string;
  /** Default: no key. A page on which a user has signed in to the console sends its cookie instead. */
  readonly apiKey?: string;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** The types of content that the service sends. 204 has none. */
const OURS = /^(application\/json|image\/svg\+xml|text\/(event-stream|plain|csv)|$)/;

interface Query {
  readonly [name: string]: string | number | boolean | null | undefined | string[] | Query;
}

/** Returns the parameters of a query. The filter `metadata` has one for each of its names, and a list one for each element. */
const parametersOf = (query: Query): [name: string, value: string][] =>
  Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value.map((each) => [name, each]);
    return typeof value === 'object' ? parametersOf(value) : [[name, String(value)]];
  });

/** Throws a TypeError if `baseUrl` does not begin with http:// or https://, or if `apiKey` cannot be sent in a header. */
export function createClient({ baseUrl, apiKey, fetch }: ClientOptions): Client {
  const url = new URL(baseUrl);
  // `localhost:3000` is a valid URL, of the protocol `localhost:`.
  if (!/^https?:$/.test(url.protocol))
    throw new TypeError(`baseUrl must begin with http:// or https://, not ${url.protocol}`);
  const client = createFetchClient<paths>({
    baseUrl: url.href,
    headers: new Headers(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    // openapi-fetch does not encode names, and a name of metadata may contain `&`.
    querySerializer: (query) => new URLSearchParams(parametersOf(query as Query)).toString(),
    ...(fetch && { fetch }),
  });
  client.use({
    onResponse: async ({ response }) => {
      if (!response.ok || !OURS.test(response.headers.get('content-type') ?? ''))
        throw await readProblem(response);
    },
  });
  return client as unknown as Client;
}
