import { randomUUID } from 'node:crypto';
import { changesAt, instant, inverterId, sessionId } from '../sessions.js';

export interface FakeRemoteRequest {
  readonly startedAtMs: number;
  readonly sessions: number;
  readonly contenders: readonly string[];
  readonly changes: boolean;
}

export interface FakeResponse {
  readonly text: string;
  readonly isRead: boolean;
}

const DAY_MS = 86_400_000;
/** The maximum number of sessions that a benchmark may start. */
const STARTED_AT_MOST = 1_000_000;

/** Returns a function that makes the responses to one contender, as the remote interface describes them. */
export function fakeResponses({ startedAtMs, sessions, changes }: FakeRemoteRequest) {
  const reads = new Uint16Array(sessions + STARTED_AT_MOST);
  const started = instant(startedAtMs);
  const expires = instant(startedAtMs + DAY_MS);
  let nextSession = sessions;

  const read = (id: string): string => {
    const index = Number(id.slice(24));
    const times = changes ? changesAt(index, ++reads[index]!) : 0;
    const online = times > 0;
    const updated = online ? instant(startedAtMs + times * 60_000) : started;
    return ok(
      `{"sessionId":"${id}","finished":${online},"active":${!online},"expired":false,"createdAt":"${started}",` +
        `"updatedAt":"${updated}","expiresAt":"${expires}","inverters":[${online ? `{"id":"${inverterId(index)}"}` : ''}]}`,
    );
  };

  const start = (): string => {
    const at = Math.floor(Date.now() / 1_000) * 1_000;
    return ok(
      `{"sessionId":"${sessionId(nextSession++)}","startUrl":"https://flow.example/onboarding?token=benchmark","finished":false,` +
        `"active":true,"createdAt":"${instant(at)}","updatedAt":"${instant(at)}","expiresAt":"${instant(at + DAY_MS)}"}`,
    );
  };

  // The body stays text, since JavaScript cannot represent an EAN as a number.
  const register = (body: string): string => {
    const located = body.replaceAll('{"ean"', () => `{"id":"${randomUUID()}","ean"`);
    const fields = `{"id":"${randomUUID()}","firstName":"","lastName":"","email":"","tenantName":"","createdAt":"${started}","updatedAt":"${started}",`;
    return ok(fields + located.slice(1));
  };

  return (head: string, body: string): FakeResponse => {
    if (head.startsWith('GET')) return { text: read(idOf(head)), isRead: true };
    if (head.includes('/ssa/users ')) return { text: register(body), isRead: false };
    return { text: head.includes('/onboarding/pv/') ? start() : TOKEN, isRead: false };
  };
}

function ok(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

const TOKEN = ok(
  JSON.stringify({ access_token: 'benchmark', expires_in: 1_209_600, token_type: 'pvcurtailment' }),
);

function idOf(head: string): string {
  const end = head.indexOf(' HTTP/');
  return head.slice(end - 36, end);
}
