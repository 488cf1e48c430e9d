import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const { API, KEY, PLACE = 'last-event-id' } = process.env;
/** The service sends something every 15 seconds, so a connection silent for SILENCE_MS is dead. */
const SILENCE_MS = 45_000;

class RefusedError extends Error {}

let last = await readFile(PLACE, 'utf8').catch(() => undefined);
let retryMs = 2_000;

for (;;) {
  try {
    await follow();
  } catch (error) {
    if (error instanceof RefusedError) throw error;
    console.error(`lost: ${error.message}`);
  }
  await sleep(retryMs);
}

async function follow() {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const response = await fetch(`${API}/events/stream`, {
      headers: { authorization: `Bearer ${KEY}`, ...(last && { 'last-event-id': last }) },
      signal: silence.signal,
    });
    if (response.status !== 200) {
      const { code, detail } = await response.json();
      // Below 429, the key or the position is wrong, and a retry would fail again. 429 and 503 are temporary.
      const ErrorClass = response.status < 429 ? RefusedError : Error;
      throw new ErrorClass(`${code}: ${detail}`);
    }
    let rest = '';
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      timer.refresh();
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop();
      for (const block of blocks) await take(block);
    }
  } finally {
    clearTimeout(timer);
  }
}

async function take(block) {
  const fields = Object.fromEntries(
    block.split('\n').map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 2)]),
  );
  if (fields.retry !== undefined) retryMs = Number(fields.retry);
  if (fields.data !== undefined) await apply(JSON.parse(fields.data));
  if (fields.id === undefined) return;
  last = fields.id;
  // Saved after the event is applied. A reader that stops in between gets the event again and recognises its id.
  // Written to another file and renamed, because a process killed during a write leaves an empty file.
  await writeFile(`${PLACE}.new`, last);
  await rename(`${PLACE}.new`, PLACE);
}

async function apply(event) {
  console.log(event.sequence, event.type, event.subject);
}
