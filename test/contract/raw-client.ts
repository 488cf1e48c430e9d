export interface RemoteTarget {
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A response with its body as text, because JSON.parse would round an EAN. */
export interface RawResponse {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

const DEADLINE_MS = 30_000;

/** A client of the remote interface that shares no code with the service. */
export class RawClient {
  #accessToken = '';

  constructor(private readonly target: RemoteTarget) {}

  get authorised(): Record<string, string> {
    return {
      ApiKey: this.target.apiKey,
      authorization: `Bearer ${this.#accessToken}`,
      accept: 'application/json',
    };
  }

  requestToken(): Promise<RawResponse> {
    return this.request('POST', '/oauth/token', {
      headers: { ApiKey: this.target.apiKey, accept: 'application/json' },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: this.target.clientId,
        client_secret: this.target.clientSecret,
        scope: 'pvcurtailment',
      }),
    });
  }

  async authorise(): Promise<RawResponse> {
    const response = await this.requestToken();
    const { access_token: accessToken } = JSON.parse(response.text) as { access_token: string };
    this.#accessToken = accessToken;
    return response;
  }

  probe(): Promise<RawResponse> {
    return this.request('GET', '', { headers: { ApiKey: this.target.apiKey } });
  }

  /** Writes the EANs into the body as JSON numbers with all their digits. */
  register(tenantReference: string, eans: readonly string[]): Promise<RawResponse> {
    const locations = eans.map((ean) => `{"ean":${ean}}`).join(',');
    return this.postUsers(
      `{"tenantReference":${JSON.stringify(tenantReference)},"gridLocations":[${locations}]}`,
    );
  }

  postUsers(body: string): Promise<RawResponse> {
    return this.request('POST', '/users', {
      headers: { ...this.authorised, 'content-type': 'application/json' },
      body,
    });
  }

  start(gridLocationId: string): Promise<RawResponse> {
    return this.request('POST', `/onboarding/pv/${gridLocationId}`, { headers: this.authorised });
  }

  read(sessionId: string): Promise<RawResponse> {
    return this.request('GET', `/onboarding/pv/${sessionId}`, { headers: this.authorised });
  }

  readOfUser(userId: string, sessionId: string): Promise<RawResponse> {
    return this.request('GET', `/users/${userId}/pv/onboarding-sessions/${sessionId}`, {
      headers: this.authorised,
    });
  }

  async request(method: string, path: string, init: Omit<RequestInit, 'method'> = {}): Promise<RawResponse> {
    const response = await fetch(`${this.target.baseUrl}/api/v1/ssa${path}`, {
      ...init,
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    return {
      status: response.status,
      contentType: response.headers.get('content-type') ?? '',
      text: await response.text(),
    };
  }
}
