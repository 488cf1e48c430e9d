// Keeps the page current. Without scripts, the page works as well: it then reloads itself while something is awaited.
const EVERY_MS = 4000;
/** The server waits 8 seconds for the remote service. */
const RESPONDS_WITHIN_MS = 20_000;
/** What a person does on the page, and a scanner of mail does not. */
const SIGNS = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'];
const main = document.querySelector('main');

/** Reports that a person, and not a scanner of mail, has opened the page. */
function reportPerson({ type, movementX, movementY }) {
  // Some browsers without a screen report a pointer that does not move when they have loaded the page.
  if (type === 'pointermove' && movementX === 0 && movementY === 0) return;
  for (const event of SIGNS) removeEventListener(event, reportPerson);
  if (!main.hasAttribute('data-unopened')) return;
  main.removeAttribute('data-unopened');
  void fetch('?opened=1', { method: 'POST', keepalive: true }).catch(() => {});
}
for (const event of SIGNS) addEventListener(event, reportPerson, { passive: true });

/** Returns what is on the page besides its live region. */
const restOf = (page) => [...page.children].filter(({ id }) => id !== 'status');
const htmlOf = (page) =>
  restOf(page)
    .map(({ outerHTML }) => outerHTML)
    .join('');
let shown = htmlOf(main);

async function refresh(signal) {
  const response = await fetch(location.href, { headers: { accept: 'text/html' }, signal });
  // A page about trouble or too many requests says nothing about the invitation.
  if (response.status === 429 || response.status >= 500) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const next = page.querySelector('main');
  if (next === null) return;
  document.title = page.title;
  for (const name of ['data-live', 'data-goes-on']) main.toggleAttribute(name, next.hasAttribute(name));
  // While a click is taken, the page stays as it is.
  if (main.querySelector('[aria-busy]') !== null) return;
  const [status, nextStatus] = [main, next].map((each) => each.querySelector('#status'));
  // An unchanged live region stays untouched, so that a screen reader does not repeat it.
  if (status.innerHTML !== nextStatus.innerHTML) status.innerHTML = nextStatus.innerHTML;
  // What a person has opened or pressed meanwhile is no change.
  const rest = htmlOf(next);
  if (rest !== shown) {
    shown = rest;
    const hadFocus = main.querySelector('.begin button:focus') !== null;
    for (const each of restOf(main)) each.remove();
    main.append(...restOf(next));
    // A new button takes over the focus of the old one.
    if (hadFocus) main.querySelector('.begin button')?.focus();
  }
}

/** Shows at once that a click was taken, and takes no second one until a response would have come. */
addEventListener('submit', (event) => {
  const form = event.target;
  if (form.hasAttribute('aria-busy')) return void event.preventDefault();
  const busy = form.querySelector('.busy');
  form.setAttribute('aria-busy', 'true');
  event.submitter?.setAttribute('data-pressed', '');
  busy.textContent = busy.dataset.text;
  // The person may have stopped the browser, or the connection is lost.
  setTimeout(() => {
    form.removeAttribute('aria-busy');
    event.submitter?.removeAttribute('data-pressed');
    busy.textContent = '';
  }, RESPONDS_WITHIN_MS);
});
// A browser shows the page again as it was left, when the person goes back.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

/** Whether a response is awaited: further reads would take the connections that a click needs. */
let isReading = false;
let wished = main.hasAttribute('data-live') && main.querySelector('.begin') === null;
setInterval(() => {
  if (!main.hasAttribute('data-live') || document.hidden || isReading) return;
  isReading = true;
  const reading = new AbortController();
  const patience = setTimeout(() => reading.abort(), RESPONDS_WITHIN_MS);
  const end = () => {
    clearTimeout(patience);
    isReading = false;
  };
  refresh(reading.signal).then(() => {
    end();
    // The wish has been fulfilled: goes on, as the owner has asked.
    if (wished && main.hasAttribute('data-goes-on')) main.querySelector('.begin button').click();
    if (main.querySelector('.begin') !== null) wished = false;
  }, end);
}, EVERY_MS);
