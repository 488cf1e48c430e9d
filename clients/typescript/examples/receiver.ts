import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { verifyWebhook, WebhookVerificationError } from '@pv-onboarding/client';

const { PORT = '8080', WEBHOOK_SECRETS = '' } = process.env;

/** In Express, use `express.raw({ type: () => true })` and take `request.body` as the body. */
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const body = Buffer.concat(await request.toArray());
    const event = verifyWebhook(WEBHOOK_SECRETS.split(','), request.headers, body);
    // An event may come again: recognise its `id`.
    if (event.type === 'pv.session.online.v1') console.log(`${event.data.sessionId} is online`);
    response.writeHead(204).end();
  } catch (error) {
    // After any response but 2xx, the service sends the event again.
    response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end();
  }
}

createServer((request, response) => void receive(request, response)).listen(Number(PORT));
