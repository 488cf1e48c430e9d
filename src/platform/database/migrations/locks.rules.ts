/** A lock that makes reads or writes of other connections wait until its migration ends. */
interface MigrationLock {
  readonly mode: 'SHARE' | 'SHARE ROW EXCLUSIVE' | 'ACCESS EXCLUSIVE';
  readonly relation: string;
  /** The first line of the statement. */
  readonly statement: string;
}

/** Matches one token of a script: a comment, a string, a quoted name, a dollar-quoted body, a semicolon, or any other text. */
const TOKEN = /--[^\n]*|'(?:[^']|'')*'|"[^"]*"|\$(\w*)\$[\s\S]*?\$\1\$|;|[^'"$;-]+|[^]/g;

const NAME = String.raw`(?:ONLY )?([\w."]+)`;
const named = (pattern: string) => new RegExp(`^${pattern.replace('NAME', NAME)}`, 'is');

/** The first matching pattern decides. Null: the statement makes neither reads nor writes wait. `NAME`: the locked table or view. */
const MODES: readonly (readonly [RegExp, MigrationLock['mode'] | null])[] = [
  [named('CREATE (?:UNIQUE )?INDEX CONCURRENTLY '), null],
  [named('CREATE (?:UNIQUE )?INDEX .*? ON NAME'), 'SHARE'],
  [named('CREATE (?:CONSTRAINT )?TRIGGER .*? ON NAME'), 'SHARE ROW EXCLUSIVE'],
  [named(String.raw`ALTER TABLE [^;]*? (?:SET \(|VALIDATE )`), null],
  [named('ALTER TABLE NAME ADD CONSTRAINT [^ ]+ FOREIGN KEY'), 'SHARE ROW EXCLUSIVE'],
  [named('ALTER TABLE NAME'), 'ACCESS EXCLUSIVE'],
  [named('DROP (?:TABLE|VIEW|INDEX) (?:IF EXISTS )?NAME'), 'ACCESS EXCLUSIVE'],
  [named('TRUNCATE (?:TABLE )?NAME'), 'ACCESS EXCLUSIVE'],
  [named('CREATE OR REPLACE VIEW NAME'), 'ACCESS EXCLUSIVE'],
];
/** A foreign key also locks the table that it refers to. */
const REFERENCES = new RegExp(`REFERENCES ${NAME}`, 'gi');

/** Returns the locks of a migration's statements, in their order. Does not look into DO blocks. */
export function locksOf(script: string): MigrationLock[] {
  return statementsOf(script).flatMap((statement) => {
    const first = statement.split('\n', 1)[0]!;
    const lock = (mode: MigrationLock['mode'], relation: string) => ({ mode, relation, statement: first });
    const [pattern, mode] = MODES.find(([each]) => each.test(statement)) ?? [];
    const relation = pattern?.exec(statement)?.[1];
    const referred = /^(CREATE|ALTER) TABLE/i.test(statement) ? [...statement.matchAll(REFERENCES)] : [];
    return [
      ...(mode && relation ? [lock(mode, relation)] : []),
      ...referred.map(([, table]) => lock('SHARE ROW EXCLUSIVE', table!)),
    ];
  });
}

function statementsOf(script: string): string[] {
  const statements = [''];
  for (const [token] of script.matchAll(TOKEN)) {
    if (token === ';') statements.push('');
    else if (!token.startsWith('--')) statements[statements.length - 1] += token;
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '');
}
