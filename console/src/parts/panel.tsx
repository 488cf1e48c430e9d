import { useId, type ReactNode } from 'react';

interface Props {
  readonly title: string;
  /** A link to the list behind the panel. */
  readonly more?: ReactNode;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

export function Panel({ title, more, isWide = false, children }: Props) {
  const id = useId();
  return (
    <section className={isWide ? 'panel wide' : 'panel'} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {more}
      </header>
      {children}
    </section>
  );
}

export type Tone = 'well' | 'attention' | 'quiet' | 'unknown';

const SIGNS: Readonly<Record<Tone, string>> = { well: '✓', attention: '!', quiet: '•', unknown: '?' };

/** A word on a colour, with a symbol, so that the meaning never depends on the colour alone. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className={`badge ${tone}`}>
      <span aria-hidden="true">{SIGNS[tone]}</span> {children}
    </span>
  );
}

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
