// Keeps the page current. Without scripts, the page works as well: it then reloads itself while something is awaited.
const EVERY_MS = 4000;
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

async function refresh() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } });
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
  const rest = (each) => [...each.children].filter(({ id }) => id !== 'status');
  const texts = [main, next].map((each) =>
    rest(each)
      .map(({ outerHTML }) => outerHTML)
      .join(''),
  );
  if (texts[0] !== texts[1]) {
    const hadFocus = main.querySelector('.begin button:focus') !== null;
    for (const each of rest(main)) each.remove();
    main.append(...rest(next));
    // A new button takes over the focus of the old one.
    if (hadFocus) main.querySelector('.begin button')?.focus();
  }
}

/** Shows at once that a click was taken, and takes no second one. */
addEventListener('submit', (event) => {
  const form = event.target.closest('.begin');
  if (form === null) return;
  if (form.hasAttribute('aria-busy')) return void event.preventDefault();
  form.setAttribute('aria-busy', 'true');
  const busy = form.querySelector('.busy');
  busy.textContent = busy.dataset.text;
});
// A browser shows the page again as it was left, when the person goes back.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

let wished = main.hasAttribute('data-live') && main.querySelector('.begin') === null;
setInterval(() => {
  if (!main.hasAttribute('data-live') || document.hidden) return;
  refresh().then(
    () => {
      // The wish has been fulfilled: goes on, as the owner has asked.
      if (wished && main.hasAttribute('data-goes-on')) main.querySelector('.begin button').click();
      if (main.querySelector('.begin') !== null) wished = false;
    },
    () => {},
  );
}, EVERY_MS);
