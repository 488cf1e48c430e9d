import { html, page, type Html } from './html.js';
import type { Brand } from './settings.js';

/** The installations that every account at every brand shows. */
export const INSTALLATIONS = ['House roof', 'Garage', 'Garden shed'] as const;

const step = (number: number, title: string, form: Html): Html =>
  page(
    title,
    html`<main>
      <p class="steps">Step ${number} of 3</p>
      <h1>${title}</h1>
      <div class="card">${form}</div>
    </main>`,
  );

const problem = (message: string | null): Html =>
  message === null ? html`` : html`<p class="wrong" role="alert">${message}</p>`;

export const brandPage = (link: string, brands: readonly Brand[], message: string | null): Html =>
  step(
    1,
    'Which brand is your inverter?',
    html`${problem(message)}
      <form method="post" action="/pv-onboarding/${link}/brand">
        <fieldset>
          <legend>Inverter brand</legend>
          ${brands.map(({ id, name }) => html`<label class="choice"><input type="radio" name="brand" value="${id}" required /> ${name}</label>`)}
        </fieldset>
        <p class="note">Inverters of another brand need a link of their own.</p>
        <button>Continue</button>
      </form>`,
  );

export const signInPage = (link: string, brand: Brand, message: string | null): Html =>
  step(
    2,
    `Sign in at ${brand.name}`,
    html`${problem(message)}
      <form method="post" action="/pv-onboarding/${link}/sign-in">
        <label class="field"
          >Email address <input type="email" name="email" autocomplete="username" required
        /></label>
        <label class="field"
          >Password <input type="password" name="password" autocomplete="current-password" required
        /></label>
        <p class="note">This is a sandbox: anything will do, and nothing is kept.</p>
        <button>Sign in</button>
      </form>
      <form method="post" action="/pv-onboarding/${link}/back">
        <button class="small">Choose another brand</button>
      </form>`,
  );

export const authorisePage = (link: string, brand: Brand, message: string | null): Html =>
  step(
    3,
    'Allow monitoring and curtailment',
    html`${problem(message)}
      <form method="post" action="/pv-onboarding/${link}/authorise">
        <fieldset>
          <legend>Your installations at ${brand.name}</legend>
          ${INSTALLATIONS.map(
            (name, position) =>
              html`<label class="choice"
                ><input
                  type="checkbox"
                  name="installation"
                  value="${position}"
                  ${position === 0 ? html` checked` : ''}
                />
                ${name}</label
              >`,
          )}
        </fieldset>
        <fieldset>
          <legend>What you allow</legend>
          <label class="choice"
            ><input type="checkbox" name="allow" value="monitoring" required /> Reading how much these
            inverters produce</label
          >
          <label class="choice"
            ><input type="checkbox" name="allow" value="curtailment" required /> Reducing their production
            when that is needed</label
          >
        </fieldset>
        <button>Allow</button>
      </form>`,
  );

export const donePage = (brand: Brand | null): Html =>
  page(
    'Thank you',
    html`<main>
      <h1>Thank you, that is all</h1>
      <div class="card">
        <p>
          You have allowed monitoring and
          curtailment${brand === null ? '' : ` of your ${brand.name} installation`}.
        </p>
        <p>It can take a while until the installation is connected. You can close this page.</p>
      </div>
    </main>`,
  );

export const closedPage = (): Html =>
  page(
    'This link is not valid',
    html`<main>
      <h1>This link is not valid</h1>
      <div class="card">
        <p>It is unknown here, or its time is over. Ask your energy supplier for a new link.</p>
      </div>
    </main>`,
  );
