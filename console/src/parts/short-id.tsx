import { Link } from './link.js';

/** Shows the beginning of an id. The tooltip is the whole id. */
export const ShortId = ({ of: id }: { readonly of: string }) => <code title={id}>{id.slice(0, 8)}</code>;

export const SessionLink = ({ id }: { readonly id: string }) => (
  <Link to="sessions" id={id}>
    <ShortId of={id} />
  </Link>
);
