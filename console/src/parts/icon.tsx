import type { PageName } from '../rules/route.js';

/** The signs of the pages, as lines in a square of 16. */
const LINES: Readonly<Record<PageName, string>> = {
  '': 'M1.5 8.5h3l2-5.5 3 10 2-4.5h3',
  stalled: 'M4 2.5h8M4 13.5h8M5 2.5c0 3.5 6 7.5 6 11M11 2.5c0 3.5-6 7.5-6 11',
  customers: 'M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M3 13.5c0-6 10-6 10 0',
  sessions: 'M8 1.5v4M8 1.5a6.5 6.5 0 1 1-4.5 1.8',
  registrations: 'M3.5 2h6l3 3v9h-9zM5.5 8.5l1.5 1.5 3-3.5',
  invitations: 'M1.5 3.5h13v9h-13zM1.5 4l6.5 5 6.5-5',
  campaigns: 'M2 6.5v3l2.5.5 1 3.5h2l-.8-3.100L13.5 12V3L5 6.2z',
  brands:
    'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1',
  webhooks: 'M4 5.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4M12 14.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4M4 5.5v3c0 3 2 4 6 4',
  keys: 'M5 14a3 3 0 1 0 0-6 3 3 0 0 0 0 6M7.2 8.8 13.5 2.5M11 5l2 2',
  audit: 'M2 3.5h12M2 8h12M2 12.5h7',
};

/** The sign of a page, beside its name. */
export const Icon = ({ of: page }: { readonly of: PageName }) => (
  <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={LINES[page]} />
  </svg>
);
