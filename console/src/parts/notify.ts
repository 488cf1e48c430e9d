import { notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';
import { failureOf } from './loaded.js';

const COMMON = { withBorder: true, closeButtonProps: { 'aria-label': 'Close' } };

/** Tells a person that an act is done. */
export const tellDone = (message: ReactNode): void =>
  void notifications.show({ message, color: 'green', role: 'status', ...COMMON });

/** Tells a person why an act failed. Stays until it is closed. */
export const tellFailed = (error: unknown): void => tellRefused(failureOf(error));

/** Tells a person what was not done. Stays until it is closed. */
export const tellRefused = (message: ReactNode): void =>
  void notifications.show({ message, color: 'red', autoClose: false, ...COMMON });
