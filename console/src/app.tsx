import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { listener } from './api/client.js';
import { follow } from './api/live.js';
import { queries } from './api/queries.js';
import { readEntry, signOut, type SignedIn } from './api/sign-in.js';
import { navigate, replacePath, useRoute } from './parts/link.js';
import { Loaded } from './parts/loaded.js';
import { MayContext } from './parts/may.js';
import { Shell } from './parts/shell.js';
import { CampaignsPage } from './pages/campaigns.js';
import { CustomersPage } from './pages/customers.js';
import { DutyPage } from './pages/duty.js';
import { RegistrationsPage } from './pages/registrations.js';
import { SearchPage } from './pages/search.js';
import { SessionPage } from './pages/session.js';
import { SessionsPage } from './pages/sessions.js';
import { SignInPage } from './pages/sign-in.js';
import { StalledPage } from './pages/stalled.js';
import { WebhooksPage } from './pages/webhooks.js';
import { PAGES, pathOf, type PageName, type Route } from './rules/route.js';
import { mayIn, missingFor, type May } from './rules/scopes.js';

export const App = () => (
  <QueryClientProvider client={queries}>
    <Entrance />
  </QueryClientProvider>
);

/** Shows the pages to a person who is signed in, and the sign-in page to anybody else. */
function Entrance() {
  const entry = useQuery({ queryKey: ['entry'], queryFn: readEntry, staleTime: Infinity });
  useEffect(() => {
    listener.signedOut = () => void queries.invalidateQueries({ queryKey: ['entry'] });
  }, []);
  return (
    <Loaded query={entry}>
      {(data) =>
        data.kind === 'in' ? (
          <Pages who={data.who} onSignOut={() => void signOut().then(() => leave())} />
        ) : (
          <SignInPage signIn={data.signIn} onSignedIn={() => void entry.refetch()} />
        )
      }
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
  const may = mayIn(who.scopes);
  useEffect(() => (may('events:read') ? follow(queries) : undefined), [may]);
  useEffect(() => {
    document.title = `${route.page === 'unknown' ? 'Not found' : PAGES[route.page]} · PV Onboarding`;
    setTerm('');
  }, [route.page, route.id]);
  const pages = (Object.keys(PAGES) as PageName[]).filter((page) => missingFor(page, may) === null);
  const [first] = pages;
  const isElsewhere = route.page === '' && first !== undefined && first !== '';
  useEffect(() => {
    if (isElsewhere) replacePath(pathOf(first));
  }, [isElsewhere, first]);
  return (
    <MayContext value={may}>
      <Shell route={route} who={who} pages={pages} onSearch={setTerm} onSignOut={onSignOut}>
        {term === '' ? (
          <Page route={route} may={may} />
        ) : (
          <SearchPage key={term} text={term} isOwnPage onFound={(path) => (setTerm(''), navigate(path))} />
        )}
      </Shell>
    </MayContext>
  );
}

function Page({ route: { page, id, filters }, may }: { readonly route: Route; readonly may: May }) {
  const missing = page === 'unknown' ? null : missingFor(page, may);
  if (missing !== null)
    return (
      <>
        <h1>You may not see this page</h1>
        <p>It needs {missing}.</p>
      </>
    );
  switch (page) {
    case '':
      return <DutyPage />;
    case 'stalled':
      return <StalledPage />;
    case 'sessions':
      return id === null ? <SessionsPage filters={filters} /> : <SessionPage key={id} id={id} />;
    case 'customers':
      return <CustomersPage key={id} userId={id} />;
    case 'registrations':
      return <RegistrationsPage filters={filters} />;
    case 'webhooks':
      return <WebhooksPage filters={filters} />;
    case 'campaigns':
      return <CampaignsPage />;
    case 'unknown':
      return <h1>There is no such page</h1>;
  }
}
