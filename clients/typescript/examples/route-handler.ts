import { verifyWebhook, WebhookVerificationError } from '@pv-onboarding/client';

/** A route handler for Next.js (app/webhooks/route.ts) and every other framework of `Request` and `Response`. */
export async function POST(request: Request): Promise<Response> {
  try {
    const secrets = (process.env.WEBHOOK_SECRETS ?? '').split(',');
    const event = verifyWebhook(secrets, request.headers, await request.text());
    if (event.type === 'pv.session.online.v1') console.log(`${event.data.sessionId} is online`);
    return new Response(null, { status: 204 });
  } catch (error) {
    if (error instanceof WebhookVerificationError) return new Response(null, { status: 401 });
    throw error;
  }
}
