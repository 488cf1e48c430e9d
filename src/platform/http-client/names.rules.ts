/** How resolv.conf completes a name that is not absolute (resolv.conf(5)). */
interface NameSearch {
  readonly domains: readonly string[];
  /** A name with at least this number of dots is queried as it is first, and with the domains afterwards. */
  readonly ndots: number;
}

/** The limit of glibc. */
const MOST_NDOTS = 15;

/** Reads `search`, `domain` and `options ndots` of resolv.conf. The last `search` or `domain` is valid. */
export function readNameSearch(resolvConf: string): NameSearch {
  let domains: readonly string[] = [];
  let ndots = 1;
  for (const [keyword, ...values] of wordsOf(resolvConf, /[#;]/)) {
    if (keyword === 'search') domains = values.map(normal).filter((domain) => domain !== '');
    if (keyword === 'domain') domains = values.slice(0, 1).map(normal);
    if (keyword !== 'options') continue;
    const option = values.findLast((value) => /^ndots:\d+$/.test(value));
    if (option !== undefined) ndots = Math.min(Number(option.slice('ndots:'.length)), MOST_NDOTS);
  }
  return { domains, ndots };
}

/** Returns the absolute names that `name` may mean, in the order in which to query them. */
export function candidatesOf(name: string, { domains, ndots }: NameSearch): readonly string[] {
  if (name.endsWith('.')) return [normal(name)];
  const completed = domains.map((domain) => `${name}.${domain}`);
  return name.split('.').length > ndots ? [name, ...completed] : [...completed, name];
}

/** Returns the addresses that need no query: those in the hosts file, or the loopback for localhost. */
export function listedAddresses(hosts: string, name: string): readonly string[] {
  const wanted = normal(name);
  const listed = wordsOf(hosts, /#/).flatMap(([address = '', ...names]) =>
    names.some((each) => normal(each) === wanted) ? [address] : [],
  );
  // RFC 6761, section 6.3: localhost and the names below it are never queried.
  const isLocal = wanted === 'localhost' || wanted.endsWith('.localhost');
  return listed.length === 0 && isLocal ? ['127.0.0.1', '::1'] : listed;
}

/** Returns the words of each line, without its comment. */
const wordsOf = (text: string, comment: RegExp): string[][] =>
  text.split('\n').map((line) =>
    line
      .split(comment, 1)[0]!
      .split(/\s/)
      .filter((word) => word !== ''),
  );

const normal = (name: string): string => name.toLowerCase().replace(/\.$/, '');
