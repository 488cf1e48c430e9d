import { markup, page, type Html } from './markup.js';
import type { Language, Texts } from './owner-flow.texts.js';
import type { Brand } from '../settings.js';

/** The installations shown for every account at every brand. */
export const INSTALLATIONS = ['roof', 'garage', 'shed'] as const;

/** What is wrong with a form. */
export type Problem = Extract<keyof Texts, `needs${string}`>;

const of = (text: string, brand: Brand): string => text.replace('{brand}', () => brand.name);

const step = (
  { lang, texts }: Language,
  number: number,
  title: string,
  problem: Problem | null,
  form: Html,
): Html =>
  page(
    title,
    markup`<main>
      <p class="steps">${texts.step.replace('{step}', String(number))}</p>
      <h1>${title}</h1>
      <div class="card">
        ${problem === null ? markup`` : markup`<p class="wrong" role="alert">${texts[problem]}</p>`}
        ${form}
      </div>
    </main>`,
    lang,
  );

const choice = (
  type: 'radio' | 'checkbox',
  name: string,
  value: string,
  label: string,
  attribute: 'required' | 'checked' | '',
): Html =>
  markup`<label class="choice"><input type="${type}" name="${name}" value="${value}" ${attribute}> ${label}</label>`;

const labelOf = ({ texts }: Language, { name, onlineAfterMs }: Brand): string =>
  onlineAfterMs === null ? `${name} (${texts.byHand})` : name;

export const brandPage = (
  language: Language,
  link: string,
  brands: readonly Brand[],
  problem: Problem | null,
): Html =>
  step(
    language,
    1,
    language.texts.whichBrand,
    problem,
    markup`<form method="post" action="/pv-onboarding/${link}/brand">
        <fieldset>
          <legend>${language.texts.brand}</legend>
          ${brands.map((brand) => choice('radio', 'brand', brand.id, labelOf(language, brand), 'required'))}
        </fieldset>
        <p class="note">${language.texts.oneBrand}</p>
        <button>${language.texts.next}</button>
      </form>`,
  );

export const signInPage = (language: Language, link: string, brand: Brand, problem: Problem | null): Html => {
  const { texts } = language;
  return step(
    language,
    2,
    of(texts.signInAt, brand),
    problem,
    markup`<form method="post" action="/pv-onboarding/${link}/sign-in">
        <label class="field">${texts.email}
          <input name="email" inputmode="email" autocomplete="username" required></label>
        <label class="field">${texts.password}
          <input type="password" name="password" autocomplete="current-password" required></label>
        <p class="note">${texts.anything}</p>
        <button>${texts.signIn}</button>
      </form>
      <form method="post" action="/pv-onboarding/${link}/back">
        <button class="small">${texts.back}</button>
      </form>`,
  );
};

export const authorisePage = (
  language: Language,
  link: string,
  brand: Brand,
  problem: Problem | null,
): Html => {
  const { texts } = language;
  return step(
    language,
    3,
    texts.permissions,
    problem,
    markup`<form method="post" action="/pv-onboarding/${link}/authorise">
        <fieldset>
          <legend>${of(texts.installations, brand)}</legend>
          ${INSTALLATIONS.map((name, position) =>
            choice(
              'checkbox',
              'installation',
              String(position),
              texts[name],
              position === 0 ? 'checked' : '',
            ),
          )}
        </fieldset>
        <fieldset>
          <legend>${texts.allowed}</legend>
          ${choice('checkbox', 'allow', 'monitoring', texts.monitoring, 'required')}
          ${choice('checkbox', 'allow', 'curtailment', texts.curtailment, 'required')}
        </fieldset>
        <button>${texts.allow}</button>
      </form>`,
  );
};

const lastPage = (lang: string, title: string, ...paragraphs: readonly string[]): Html =>
  page(
    title,
    markup`<main>
      <h1>${title}</h1>
      <div class="card">${paragraphs.map((text) => markup`<p>${text}</p>`)}</div>
    </main>`,
    lang,
  );

export const donePage = ({ lang, texts }: Language): Html =>
  lastPage(lang, texts.thanks, texts.done, texts.wait);

export const closedPage = ({ lang, texts }: Language): Html => lastPage(lang, texts.closed, texts.ask);
