import { UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Target } from '../rules/stalled.js';
import { texts } from '../texts.js';
import { tellDone } from './notify.js';

interface Props {
  readonly text: string;
  /** What is shown. Default: the whole text. */
  readonly children?: ReactNode;
  /** The name of the button, if what is shown is none. */
  readonly label?: string;
}

/** Shows a text that a click copies whole. */
export const Copy = ({ text, children, label }: Props) => (
  <UnstyledButton
    className="copy"
    title={texts.copy.clickToCopy(text)}
    aria-label={label}
    onClick={() => void copy(text)}
  >
    {children ?? <code>{text}</code>}
  </UnstyledButton>
);

/** Copies a text, and tells so. */
export async function copy(
  text: string,
  told = texts.copy.copied,
  page: Target | null = null,
): Promise<void> {
  await write(text);
  tellDone(told, page);
}

export async function write(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyByField(text);
  }
}

/** Copies without the clipboard of the browser, which is missing on a page that is reached over plain HTTP. */
function copyByField(text: string): void {
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}
