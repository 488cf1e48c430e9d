import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { listener } from './api/client.js';
import { follow } from './api/live.js';
import { queries } from './api/queries.js';
import { readEntry, signOut, type SignedIn } from './api/sign-in.js';
import { Boundary } from './parts/boundary.js';
import { navigate, replacePath, useRoute } from './parts/link.js';
import { loaded } from './parts/load.js';
import { Loaded, Loading } from './parts/loaded.js';
import { MayContext } from './parts/may.js';
import { tellFailed } from './parts/notify.js';
import { Shell } from './parts/shell.js';
import { SignInPage } from './pages/sign-in.js';
import { pathOf, type PageName, type Route } from './rules/route.js';
import { homeFor, mayIn, missingFor, type May } from './rules/scopes.js';
import { theme } from './theme.js';
import { texts } from './texts.js';

// Each page is a file of its own, which the browser loads when the page is first opened.
const AuditPage = loaded(async () => (await import('./pages/audit.js')).AuditPage);
const BrandsPage = loaded(async () => (await import('./pages/brands.js')).BrandsPage);
const CampaignPage = loaded(async () => (await import('./pages/campaign.js')).CampaignPage);
const ImportPage = loaded(async () => (await import('./pages/import.js')).ImportPage);
const CampaignsPage = loaded(async () => (await import('./pages/campaigns.js')).CampaignsPage);
const CustomersPage = loaded(async () => (await import('./pages/customers.js')).CustomersPage);
const DutyPage = loaded(async () => (await import('./pages/duty.js')).DutyPage);
const EndpointPage = loaded(async () => (await import('./pages/endpoint.js')).EndpointPage);
const InvitationsPage = loaded(async () => (await import('./pages/invitations.js')).InvitationsPage);
const InvitationPage = loaded(async () => (await import('./pages/invitations.js')).InvitationPage);
const KeysPage = loaded(async () => (await import('./pages/keys.js')).KeysPage);
const RegistrationsPage = loaded(async () => (await import('./pages/registrations.js')).RegistrationsPage);
const SearchPage = loaded(async () => (await import('./pages/search.js')).SearchPage);
const SessionPage = loaded(async () => (await import('./pages/session.js')).SessionPage);
const SessionsPage = loaded(async () => (await import('./pages/sessions.js')).SessionsPage);
const StalledPage = loaded(async () => (await import('./pages/stalled.js')).StalledPage);
const WebhooksPage = loaded(async () => (await import('./pages/webhooks.js')).WebhooksPage);

/** Loads what a search leads to, so that its hits are not delayed by it. */
const prepareSearch = () => void Promise.allSettled([SearchPage.load(), CustomersPage.load()]);

export const App = () => (
  <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
    <Notifications position="bottom-right" transitionDuration={0} />
    <QueryClientProvider client={queries}>
      <Boundary>
        <Entrance />
      </Boundary>
    </QueryClientProvider>
  </MantineProvider>
);

/** Shows the pages to a person who is signed in, and the sign-in page to anybody else. */
function Entrance() {
  const entry = useQuery({
    queryKey: ['entry'],
    queryFn: readEntry,
    staleTime: Infinity,
    // Somebody may have signed in or out in another tab meanwhile.
    refetchOnWindowFocus: 'always',
  });
  const actor = entry.data?.kind === 'in' ? entry.data.who.actor : null;
  const first = useRef(actor);
  first.current ??= actor;
  const isOther = actor !== first.current && actor !== null;
  useEffect(() => {
    // Loaded anew, the page has nothing in memory of another person, whose session has ended.
    if (isOther) window.location.reload();
  }, [isOther]);
  useEffect(() => {
    listener.signedOut = () => void queries.invalidateQueries({ queryKey: ['entry'] });
  }, []);
  return (
    <Loaded query={entry}>
      {(data) => {
        if (isOther) return <Loading />;
        if (data.kind === 'in')
          return <Pages who={data.who} onSignOut={() => void signOut().then(leave, tellFailed)} />;
        return (
          <SignInPage
            signIn={data.signIn}
            isAgain={first.current !== null}
            onSignedIn={() => void entry.refetch()}
          />
        );
      }}
    </Loaded>
  );
}

/** Removes all data of the signed-out person from memory, and opens the first page. */
function leave(): void {
  queries.clear();
  window.location.assign(pathOf(''));
}

function Pages({ who, onSignOut }: { readonly who: SignedIn; readonly onSignOut: () => void }) {
  const route = useRoute();
  // A reference or an EAN is personal, so the term is never in the URL.
  const [term, setTerm] = useState('');
  // The same function for the same person, or each page would begin another stream.
  const may = useMemo(() => mayIn(who.scopes), [who]);
  useEffect(() => (may('events:read') ? follow(queries) : undefined), [may]);
  useEffect(() => {
    document.title = texts.app.titleOf(
      route.page === 'unknown' ? texts.app.notFound : texts.pages[route.page],
    );
    setTerm('');
  }, [route.page, route.id]);
  const pages = (Object.keys(texts.pages) as PageName[]).filter((page) => missingFor(page, may) === null);
  const [first] = pages;
  useEffect(() => {
    // At Back, the browser itself returns to the position on the page.
    const toTop = () => {
      window.scrollTo(0, 0);
      // What had the focus may be on the page that is left.
      document.getElementById('main')?.focus({ preventScroll: true });
    };
    window.addEventListener('pushState', toTop);
    return () => window.removeEventListener('pushState', toTop);
  }, []);
  const isElsewhere = route.page === '' && first !== undefined && first !== '';
  useEffect(() => {
    if (isElsewhere) replacePath(pathOf(first));
  }, [isElsewhere, first]);
  useEffect(() => {
    const home = homeFor(may);
    if (route.page === '' && home !== '' && pages.includes(home)) replacePath(pathOf(home));
  }, []);
  return (
    <MayContext value={may}>
      <Shell
        route={route}
        who={who}
        pages={pages}
        onSearchFocus={prepareSearch}
        onSearch={setTerm}
        onSignOut={onSignOut}
      >
        <Boundary key={`${route.page} ${route.id} ${term}`}>
          <Suspense fallback={<Loading />}>
            {term === '' ? (
              <Page route={route} may={may} />
            ) : (
              <SearchPage
                key={term}
                text={term}
                isOwnPage
                onFound={(path) => (setTerm(''), navigate(path))}
              />
            )}
          </Suspense>
        </Boundary>
      </Shell>
    </MayContext>
  );
}

function Page({ route: { page, id, filters }, may }: { readonly route: Route; readonly may: May }) {
  const missing = page === 'unknown' ? null : missingFor(page, may);
  if (missing !== null)
    return (
      <>
        <h1>{texts.app.mayNotSee}</h1>
        <p>{texts.app.needs(missing)}</p>
      </>
    );
  switch (page) {
    case '':
      return <DutyPage filters={filters} />;
    case 'stalled':
      return <StalledPage filters={filters} />;
    case 'sessions':
      return id === null ? <SessionsPage filters={filters} /> : <SessionPage key={id} id={id} />;
    case 'customers':
      return <CustomersPage key={id} userId={id} filters={filters} />;
    case 'registrations':
      return <RegistrationsPage filters={filters} />;
    case 'webhooks':
      return id === null ? (
        <WebhooksPage filters={filters} />
      ) : (
        <EndpointPage key={id} id={id} filters={filters} />
      );
    case 'invitations':
      return id === null ? <InvitationsPage filters={filters} /> : <InvitationPage key={id} id={id} />;
    case 'brands':
      return <BrandsPage filters={filters} />;
    case 'keys':
      return <KeysPage />;
    case 'audit':
      return <AuditPage filters={filters} />;
    case 'campaigns':
      if (id === 'new') return <ImportPage />;
      return id === null ? (
        <CampaignsPage filters={filters} />
      ) : (
        <CampaignPage key={id} id={id} filters={filters} />
      );
    case 'unknown':
      return <h1>{texts.app.noSuchPage}</h1>;
  }
}
