import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RegExpParser, visitRegExpAST, type AST } from '@eslint-community/regexpp';
import ts from 'typescript';

const ROOT = new URL('../../../', import.meta.url).pathname;
const FOLDERS = ['src', 'console/src', 'pages', 'clients/typescript/src'];

export interface Pattern {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** Returns every literal pattern of the code, and the places where a pattern is built from a value. */
export function patternsOfCode(): { readonly patterns: Pattern[]; readonly built: string[] } {
  const patterns: Pattern[] = [];
  const built: string[] = [];
  for (const file of FOLDERS.flatMap(sourcesIn)) {
    const source = ts.createSourceFile(
      file,
      readFileSync(join(ROOT, file), 'utf8'),
      ts.ScriptTarget.Latest,
      true,
    );
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) patterns.push(patternOf(node, file, source));
      if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp')
        built.push(file);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return { patterns, built: [...new Set(built)].sort() };
}

const sourcesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => /\.(?:tsx?|m?js)$/.test(name) && !/\.spec\.ts$|\/generated\//.test(name));

function patternOf(node: ts.RegularExpressionLiteral, file: string, source: ts.SourceFile): Pattern {
  const { line } = source.getLineAndCharacterOfPosition(node.getStart());
  const { pattern, flags } = new RegExpParser().parseLiteral(node.text);
  return { place: `${file}:${line + 1}`, source: pattern.raw, flags: flags.raw };
}

/** The longest text that a stranger can give to a pattern in the headers of a request. */
const PUMPED_LENGTH = 16_000;
/** Short lengths come first: with exponential time, the full length would never end. */
const LENGTHS = [16, 20, 24, 28, 32, 64, 256, 1_024, 4_096, PUMPED_LENGTH];
/** The most characters of a pattern that are combined with each other. */
const COMBINED = 12;

/** Returns the longest time that the pattern takes for a pumped text of at most 16 kB, and that text. Stops at the first over `limitMs`. */
export function slowestRun({ source, flags }: Pattern, limitMs: number): { ms: number; text: string } {
  // Every method that takes a pattern goes through the whole text at least once; the flag g makes `replace` do so.
  const pattern = new RegExp(source, flags);
  let slowest = { ms: 0, text: '' };
  for (const { prefix, pump, suffix } of pumpedTexts(source, flags)) {
    for (const length of LENGTHS) {
      const text = prefix + pump.repeat(Math.ceil(length / pump.length)).slice(0, length) + suffix;
      const ms = timeOf(pattern, text, limitMs);
      if (ms > slowest.ms)
        slowest = {
          ms,
          text: `${JSON.stringify(prefix)} + ${JSON.stringify(pump)} × ${length} + ${JSON.stringify(suffix)}`,
        };
      if (ms > limitMs) return slowest;
    }
  }
  return slowest;
}

/** Returns the shortest of up to three runs, because the machine may interrupt one. */
function timeOf(pattern: RegExp, text: string, limitMs: number): number {
  let shortest = Infinity;
  for (let run = 0; run < 3 && shortest > limitMs; run++) {
    const startedAt = performance.now();
    pattern.lastIndex = 0;
    text.replace(pattern, '');
    shortest = Math.min(shortest, performance.now() - startedAt);
  }
  return shortest;
}

interface Pumped {
  readonly prefix: string;
  readonly pump: string;
  readonly suffix: string;
}

/**
 * Yields texts that repeat a character of the pattern, two of them, or what one of its quantifiers matches; after nothing and after what
 * precedes the quantifier; before nothing and before characters that end no match.
 */
function* pumpedTexts(source: string, flags: string): Generator<Pumped> {
  const ast = new RegExpParser().parsePattern(source, undefined, undefined, { unicode: flags.includes('u') });
  const characters = new Set<string>();
  const repeated = new Map<string, Set<string>>();
  visitRegExpAST(ast, {
    onCharacterEnter: ({ value }) => void characters.add(String.fromCodePoint(value)),
    onCharacterClassRangeEnter: ({ min }) => void characters.add(String.fromCodePoint(min.value)),
    onCharacterSetEnter: (set) => void characters.add(memberOf(set)),
    onCharacterClassEnter: (set) => void characters.add(sampleOf(set)),
    onQuantifierEnter: (quantifier) => {
      if (quantifier.max < 2) return;
      const prefixes = repeated.get(sampleOf(quantifier.element)) ?? new Set(['']);
      repeated.set(sampleOf(quantifier.element), prefixes.add(sampleBefore(quantifier)));
    },
  });
  const some = [...characters].slice(0, COMBINED);
  const pumps = [
    ...repeated.keys(),
    ...characters,
    ...some.flatMap((one) => some.map((other) => one + other)),
  ];
  const prefixes = new Set(['', ...[...repeated.values()].flatMap((each) => [...each])]);
  for (const pump of new Set(pumps)) {
    if (pump === '') continue;
    for (const prefix of repeated.get(pump) ?? prefixes)
      for (const suffix of ['', '\n', `\0${pump[0]}`]) yield { prefix, pump, suffix };
  }
}

/** Returns the shortest text before a quantifier that lets a match reach it. */
function sampleBefore(node: AST.Node): string {
  const { parent } = node;
  if (parent === null) return '';
  const before =
    parent.type === 'Alternative'
      ? parent.elements.slice(0, parent.elements.indexOf(node as AST.Element))
      : [];
  return sampleBefore(parent) + before.map(sampleOf).join('');
}

/** Returns a text that this part of a pattern matches, as far as it can be told without trying. */
function sampleOf(node: AST.Element | AST.CharacterClassElement | AST.Alternative): string {
  switch (node.type) {
    case 'Character':
      return String.fromCodePoint(node.value);
    case 'CharacterClassRange':
      return String.fromCodePoint(node.min.value);
    case 'CharacterSet':
      return memberOf(node);
    case 'CharacterClass':
      return memberOfClass(node);
    case 'Alternative':
      return node.elements.map(sampleOf).join('');
    case 'Group':
    case 'CapturingGroup':
      return sampleOf(node.alternatives[0]!);
    case 'Quantifier':
      return sampleOf(node.element).repeat(Math.max(1, node.min));
    default:
      return '';
  }
}

/** Characters of different kinds; a class without one of these has members of its own. */
const KINDS = ['a', '0', ' ', '-', '/', '"', '.', 'é', '\u200b', '\x01'];

function memberOfClass(node: AST.CharacterClass | AST.ExpressionCharacterClass): string {
  const pattern = new RegExp(node.raw, 'u');
  const own =
    node.type === 'CharacterClass' && !node.negate ? node.elements.map((each) => sampleOf(each)) : [];
  return [...own, ...KINDS].find((character) => pattern.test(character)) ?? 'a';
}

const memberOf = ({ raw }: AST.CharacterSet): string =>
  KINDS.find((character) => new RegExp(raw, 'u').test(character)) ?? 'a';
