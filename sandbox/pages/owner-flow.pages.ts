import { markup, page, type Html } from './markup.js';
import type { Brand } from '../settings.js';

/** The installations shown for every account at every brand. */
export const INSTALLATIONS = ['House roof', 'Garage', 'Garden shed'] as const;

const step = (number: number, title: string, form: Html): Html =>
  page(
    title,
    markup`<main>
      <p class="steps">Step ${number} of 3</p>
      <h1>${title}</h1>
      <div class="card">${form}</div>
    </main>`,
  );

const problem = (message: string | null): Html =>
  message === null ? markup`` : markup`<p class="wrong" role="alert">${message}</p>`;

const choice = (
  type: 'radio' | 'checkbox',
  name: string,
  value: string,
  label: string,
  attribute: 'required' | 'checked' | '',
): Html =>
  markup`<label class="choice"><input type="${type}" name="${name}" value="${value}" ${attribute}> ${label}</label>`;

export const brandPage = (link: string, brands: readonly Brand[], message: string | null): Html =>
  step(
    1,
    'Which brand is your inverter?',
    markup`${problem(message)}
      <form method="post" action="/pv-onboarding/${link}/brand">
        <fieldset>
          <legend>Inverter brand</legend>
          ${brands.map(({ id, name }) => choice('radio', 'brand', id, name, 'required'))}
        </fieldset>
        <p class="note">Inverters of another brand need a link of their own.</p>
        <button>Continue</button>
      </form>`,
  );

export const signInPage = (link: string, brand: Brand, message: string | null): Html =>
  step(
    2,
    `Sign in at ${brand.name}`,
    markup`${problem(message)}
      <form method="post" action="/pv-onboarding/${link}/sign-in">
        <label class="field">Email address
          <input type="email" name="email" autocomplete="username" required></label>
        <label class="field">Password
          <input type="password" name="password" autocomplete="current-password" required></label>
        <p class="note">This is a sandbox. Any text works, and nothing is stored.</p>
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
    markup`${problem(message)}
      <form method="post" action="/pv-onboarding/${link}/authorise">
        <fieldset>
          <legend>Your installations at ${brand.name}</legend>
          ${INSTALLATIONS.map((name, position) =>
            choice('checkbox', 'installation', String(position), name, position === 0 ? 'checked' : ''),
          )}
        </fieldset>
        <fieldset>
          <legend>What you allow</legend>
          ${choice('checkbox', 'allow', 'monitoring', 'Reading how much these inverters produce', 'required')}
          ${choice('checkbox', 'allow', 'curtailment', 'Reducing their production when that is needed', 'required')}
        </fieldset>
        <button>Allow</button>
      </form>`,
  );

export const donePage = (brand: Brand | null): Html =>
  page(
    'Thank you',
    markup`<main>
      <h1>Thank you, that is all</h1>
      <div class="card">
        <p>You have allowed monitoring and curtailment${brand === null ? '' : ` of your ${brand.name} installation`}.</p>
        <p>It can take a while until the installation is connected. You can close this page.</p>
      </div>
    </main>`,
  );

export const closedPage = (): Html =>
  page(
    'This link is not valid',
    markup`<main>
      <h1>This link is not valid</h1>
      <div class="card">
        <p>It is unknown here, or its time is over. Ask your energy supplier for a new link.</p>
      </div>
    </main>`,
  );
