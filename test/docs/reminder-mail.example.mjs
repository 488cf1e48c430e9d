import { createServer } from 'node:http';
import { createTransport } from 'nodemailer';
import { Webhook } from 'standardwebhooks';

/** KEY has the scopes `onboarding:read` and `links:read`. */
const { API, KEY, WEBHOOK_SECRET, SMTP_URL, PORT } = process.env;

// In your own program, these two are tables of your database.
/** The mail address of each customer, by `tenantReference`. */
const addresses = new Map([['customer-1001', 'ann@example.com']]);
/** The ids of the events whose mail has been sent or is being sent. Ids of events older than a few days may be deleted. */
const mailed = new Set();

const MAILS = {
  en: ['Your solar installation is not connected yet', 'It takes a few minutes. Go on here:'],
  nl: ['Uw zonnepanelen zijn nog niet gekoppeld', 'Het duurt een paar minuten. Ga hier verder:'],
  de: ['Ihre Solaranlage ist noch nicht verbunden', 'Es dauert nur wenige Minuten. Hier geht es weiter:'],
  fr: [
    "Votre installation solaire n'est pas encore connectée",
    'Quelques minutes suffisent. Continuez ici :',
  ],
};

const webhook = new Webhook(WEBHOOK_SECRET);
const mailer = createTransport({ url: SMTP_URL, connectionTimeout: 5_000, socketTimeout: 5_000 });

createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  let event;
  try {
    event = webhook.verify(body, request.headers);
  } catch {
    return response.writeHead(401).end();
  }
  try {
    await remind(event);
    response.writeHead(204).end();
  } catch (error) {
    console.error(error.message);
    // After this response, the service sends the event again.
    response.writeHead(500).end();
  }
}).listen(PORT, '127.0.0.1');

async function remind({ id, type, data }) {
  const to = addresses.get(data.tenantReference);
  if (type !== 'pv.invitation.reminder_due.v1' || to === undefined || mailed.has(id)) return;
  mailed.add(id);
  try {
    const url = await linkOf(data.invitationId);
    if (url === undefined) return;
    const [subject, text] = MAILS[data.locale ?? 'en'];
    await mailer.sendMail({ from: 'solar@example.com', to, subject, text: `${text}\n\n${url}\n` });
  } catch (error) {
    mailed.delete(id);
    throw error;
  }
}

/** Returns the link, unless the owner no longer needs it: an event may arrive late. Throws if KEY may not read links. */
async function linkOf(invitationId) {
  const headers = { authorization: `Bearer ${KEY}` };
  const response = await fetch(`${API}/invitations/${invitationId}`, { headers });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`the invitation could not be read: ${response.status}`);
  const { state, url } = await response.json();
  if (!['invited', 'opened', 'started'].includes(state)) return undefined;
  if (url === null) throw new Error('KEY lacks the scope links:read');
  return url;
}
