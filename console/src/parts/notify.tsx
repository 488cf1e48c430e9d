import { notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';
import { pageWords, type Target } from '../rules/stalled.js';
import { texts } from '../texts.js';
import { Link } from './link.js';
import { failureOf } from './loaded.js';

const COMMON = { withBorder: true, closeButtonProps: { 'aria-label': texts.buttons.close } };

/** Tells a person that an act is done. `page`: about its subject or its result. */
export const tellDone = (message: ReactNode, page: Target | null = null): void =>
  void notifications.show({
    message: withLink(message, page),
    color: 'green',
    role: 'status',
    ...COMMON,
  });

/**
 * Tells a person why an act failed. Stays until it is closed. The same failure is shown once: only five notifications are shown at a time, so
 * that repetitions would hide all that follows.
 */
export const tellFailed = (error: unknown): void => tellRefused(failureOf(error, texts.loaded.unanswered));

/** Tells a person what was not done. Stays until it is closed. */
export const tellRefused = (message: ReactNode, page: Target | null = null): void => {
  const id = typeof message === 'string' ? message : undefined;
  if (id !== undefined) notifications.hide(id);
  notifications.show({ id, message: withLink(message, page), color: 'red', autoClose: false, ...COMMON });
};

const withLink = (message: ReactNode, page: Target | null): ReactNode =>
  page === null ? (
    message
  ) : (
    <>
      {message} <Link {...page}>{pageWords(page)}</Link>
    </>
  );
