import { Button, TextInput } from '@mantine/core';
import { lazy, Suspense, useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { nameOf, type SignedIn } from '../api/sign-in.js';
import type { PageName, Route } from '../rules/route.js';
import { Boundary } from './boundary.js';
import { Icon } from './icon.js';
import { Link } from './link.js';
import { POLL_MS, useLive } from '../api/live.js';
import { texts } from '../texts.js';
import { Age, Instant } from './time.js';

const Palette = lazy(async () => ({ default: (await import('./palette.js')).Palette }));

/** The pages before which a group of others ends. */
const BEGINS_GROUP: readonly PageName[] = ['customers', 'webhooks'];

interface Props {
  readonly route: Route;
  readonly who: SignedIn;
  readonly pages: readonly PageName[];
  /** Called when a person is about to search. */
  readonly onSearchFocus: () => void;
  readonly onSearch: (text: string) => void;
  readonly onSignOut: () => void;
  readonly children: ReactNode;
}

export function Shell({ route, who, pages, onSearchFocus, onSearch, onSignOut, children }: Props) {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => showCurrent(nav.current), [route.page]);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      if (document.querySelector('[role="dialog"]') === null) setPaletteOpen(true);
    };
    window.addEventListener('keydown', open);
    return () => window.removeEventListener('keydown', open);
  }, []);
  return (
    <>
      {isPaletteOpen && (
        <Boundary>
          <Suspense>
            <Palette pages={pages} onSearch={onSearch} onClose={() => setPaletteOpen(false)} />
          </Suspense>
        </Boundary>
      )}
      <a className="skip" href="#main">
        {texts.shell.skip}
      </a>
      <header className="top">
        <strong>{texts.app.name}</strong>
        <Search onSearchFocus={onSearchFocus} onSearch={onSearch} />
        <span className="who">
          <span title={who.scopes.join(', ')}>{nameOf(who)}</span>
          <Button onClick={onSignOut}>{texts.buttons.signOut}</Button>
        </span>
      </header>
      <div className="frame">
        <nav aria-label={texts.shell.pages} ref={nav}>
          {pages.map((page) => (
            <Link
              key={page}
              to={page}
              isCurrent={route.page === page}
              {...(BEGINS_GROUP.includes(page) && { className: 'begins' })}
            >
              <Icon of={page} />
              {texts.pages[page]}
            </Link>
          ))}
        </nav>
        <div className="page">
          <Connection />
          <main id="main" tabIndex={-1}>
            {children}
          </main>
          <footer>
            {texts.shell.footer(<Instant at={who.expiresAt} />)}{' '}
            <span className="keys">
              {texts.shell.keys((name) => (
                <kbd>{name}</kbd>
              ))}
            </span>
          </footer>
        </div>
      </div>
    </>
  );
}

/** Scrolls the pages, which are one line on a phone, to the current one. */
function showCurrent(nav: HTMLElement | null): void {
  const current = nav?.querySelector<HTMLElement>('[aria-current]');
  if (nav && current) nav.scrollLeft = current.offsetLeft - (nav.clientWidth - current.clientWidth) / 2;
}

function Search({ onSearchFocus, onSearch }: Pick<Props, 'onSearchFocus' | 'onSearch'>) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select, [role="dialog"]');
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
      event.preventDefault();
      input.current?.select();
    };
    window.addEventListener('keydown', focus);
    return () => window.removeEventListener('keydown', focus);
  }, []);
  /** Clears the search term, so that it does not stay visible, and moves the focus to the page. */
  const leave = () => {
    if (input.current !== null) input.current.value = '';
    document.getElementById('main')?.focus();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSearch(input.current?.value ?? '');
    leave();
  };
  return (
    <form role="search" onSubmit={submit} onKeyDown={({ key }) => key === 'Escape' && leave()}>
      <TextInput
        ref={input}
        onFocus={onSearchFocus}
        size="xs"
        type="search"
        name="term"
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        aria-label={texts.shell.searchLabel}
        aria-keyshortcuts="/"
        placeholder={texts.shell.searchPlaceholder}
      />
    </form>
  );
}

/** Warns that the data on the page may be old. */
function Connection() {
  const live = useLive();
  return (
    <div className="connection" role="status">
      {live.kind === 'lost' && <p>{texts.shell.liveLost(<Age at={live.since} />, POLL_MS)}</p>}
      {live.kind === 'refused' && <p>{texts.shell.liveRefused(POLL_MS)}</p>}
    </div>
  );
}
