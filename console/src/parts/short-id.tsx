import { Copy } from './copy.js';
import type { Target } from '../rules/stalled.js';
import { texts } from '../texts.js';
import { Link } from './link.js';

/** Shows the beginning of an id. A click copies the whole id. */
export const ShortId = ({ of: id }: { readonly of: string }) => (
  <Copy text={id}>
    <code className="word">{id.slice(0, 8)}</code>
  </Copy>
);

interface Props extends Target {
  readonly of: string;
}

/** Shows the beginning of an id, which leads to the page about it. A click on the sign copies the whole id. */
export const IdLink = ({ of: id, ...page }: Props) => (
  <span className="id">
    <Link {...page}>
      <code>{id.slice(0, 8)}</code>
    </Link>{' '}
    <Copy text={id} label={texts.copy.copyOf(id)}>
      <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
        <path d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3" />
      </svg>
    </Copy>
  </span>
);

export const SessionLink = ({ id }: { readonly id: string }) => <IdLink of={id} to="sessions" id={id} />;
