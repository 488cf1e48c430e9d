import express from 'express';
import { verifyWebhook, WebhookVerificationError } from '@pv-onboarding/client';

const { PORT = '8080', WEBHOOK_SECRETS = '' } = process.env;
const app = express();

// Takes the body as it arrived, because the signature is over its bytes. `express.json()` must not parse it before.
app.post('/webhooks', express.raw({ type: () => true }), (request, response) => {
  try {
    const event = verifyWebhook(WEBHOOK_SECRETS.split(','), request.headers, request.body as Uint8Array);
    // An event may come again: recognise its `id`.
    if (event.type === 'pv.session.online.v1') console.log(`${event.data.sessionId} is online`);
    response.sendStatus(204);
  } catch (error) {
    // Express responds with 500. After any response but 2xx, the service sends the event again.
    if (!(error instanceof WebhookVerificationError)) throw error;
    response.sendStatus(401);
  }
});

app.listen(Number(PORT), '127.0.0.1');
