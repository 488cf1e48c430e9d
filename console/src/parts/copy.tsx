import { UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Target } from '../rules/stalled.js';
import { texts } from '../texts.js';
import { tellDone, tellRefused } from './notify.js';

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

/** Copies a text, and tells so, or shows the text if the browser does not allow that. */
export async function copy(
  text: string,
  told = texts.copy.copied,
  page: Target | null = null,
): Promise<void> {
  if (await write(text)) tellDone(told, page);
  else tellRefused(texts.copy.refused(text), page);
}

/** Returns whether the text is in the clipboard. */
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByField(text);
  }
}

/** Copies without the clipboard of the browser, which is missing on a page that is reached over plain HTTP. */
function copyByField(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  return isCopied;
}
