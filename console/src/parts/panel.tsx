import { Badge as Label, Paper } from '@mantine/core';
import { useEffect, useId, useRef, type ReactNode } from 'react';

interface Props {
  readonly title: string;
  /** A link to the list behind the panel, or a button. */
  readonly more?: ReactNode;
  readonly isWide?: boolean;
  /** Whether the page scrolls to it when it appears, and it takes the focus from the button that made it. */
  readonly isResult?: boolean;
  readonly children: ReactNode;
}

export function Panel({ title, more, isWide = false, isResult = false, children }: Props) {
  const id = useId();
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isResult) return;
    panel.current?.scrollIntoView();
    panel.current?.focus({ preventScroll: true });
  }, [isResult]);
  return (
    <Paper
      component="section"
      withBorder
      ref={panel}
      {...(isResult && { tabIndex: -1 })}
      className={isWide ? 'panel wide' : 'panel'}
      aria-labelledby={id}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {more}
      </header>
      {children}
    </Paper>
  );
}

export type Tone = 'well' | 'attention' | 'soon' | 'ended' | 'quiet' | 'unknown';

const TONES: Readonly<Record<Tone, { readonly sign: string; readonly color: string }>> = {
  well: { sign: '✓', color: 'green' },
  attention: { sign: '!', color: 'red' },
  soon: { sign: '!', color: 'yellow' },
  ended: { sign: '×', color: 'yellow' },
  quiet: { sign: '•', color: 'gray' },
  unknown: { sign: '?', color: 'yellow' },
};

/** A word on a colour, with a symbol, so that the meaning never depends on the colour alone. */
export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) => (
  <Label
    className="badge"
    variant="light"
    tt="none"
    color={TONES[tone].color}
    leftSection={<span aria-hidden="true">{TONES[tone].sign}</span>}
  >
    {children}
  </Label>
);

type Fact = readonly [name: string, value: ReactNode];

/** Shows names with their values. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
