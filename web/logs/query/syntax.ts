/** The language of the query bar: words, `name:value`, `-name:value` to exclude, and quotes around spaces. */

/** Names with a meaning of their own; any other name is a field of the record. */
export const NAMES = ['level', 'event', 'producer', 'correlation', 'audit'] as const;
export type Name = (typeof NAMES)[number];

/** What a term tests: a name, or with `field` a dotted path into the record. */
export interface Condition {
  readonly kind: Name | 'field';
  /** Path of a field; equals `kind` otherwise. */
  readonly name: string;
  readonly value: string;
  readonly negated: boolean;
}

/** A condition, or a word (`kind` is `word`), with its place in the text. */
export interface Term extends Omit<Condition, 'kind'> {
  readonly kind: Condition['kind'] | 'word';
  readonly start: number;
  readonly end: number;
  /** Where the value starts in the text. */
  readonly valueStart: number;
}

const BARE_NAME = /[\p{L}_@$][\p{L}\p{N}_@$./-]*(?=:(?!\/\/))/uy;
const QUOTED = /"(?:[^"\\]|\\.)*"?/uy;

const isName = (name: string): name is Name => (NAMES as readonly string[]).includes(name);

/** Terms in order. Never fails: a quote that is not closed ends with the text. */
export function parseTerms(text: string): readonly Term[] {
  const terms: Term[] = [];
  let at = 0;
  for (;;) {
    while (at < text.length && /\s/.test(text[at]!)) at++;
    if (at >= text.length) return terms;
    const term = termAt(text, at);
    terms.push(term);
    at = term.end;
  }
}

function termAt(text: string, start: number): Term {
  const negated = text[start] === '-' && /\S/.test(text[start + 1] ?? ' ');
  const from = negated ? start + 1 : start;
  const quotedName = matchAt(QUOTED, text, from);
  const bareName = matchAt(BARE_NAME, text, from);
  const name = quotedName !== undefined && text[from + quotedName.length] === ':' ? quotedName : bareName;
  const valueStart = name === undefined ? from : from + name.length + 1;
  const end = endOfValue(text, valueStart);
  const value = unquote(text.slice(valueStart, end));
  const place = { start, end, valueStart, value, negated };
  if (name === undefined) return { ...place, kind: 'word', name: '' };
  if (name.startsWith('"')) return { ...place, kind: 'field', name: unquote(name) };
  return { ...place, kind: isName(name) ? name : 'field', name };
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** The next space that is not within quotes. */
function endOfValue(text: string, from: number): number {
  let at = from;
  while (at < text.length && !/\s/.test(text[at]!))
    at += text[at] === '"' ? (matchAt(QUOTED, text, at)?.length ?? 1) : 1;
  return at;
}

const unquote = (raw: string) =>
  raw.replace(/"((?:[^"\\]|\\.)*)"?/gu, (_, inner: string) => inner.replace(/\\(.)/gu, '$1'));

const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** A condition as text of the query bar. */
export function formatCondition({ kind, name, value, negated }: Condition): string {
  const bare = matchAt(BARE_NAME, `${name}:`, 0);
  const nameText = kind === 'field' && (isName(name) || bare !== name) ? quote(name) : name;
  const valueText = value === '' || /[\s"]|^\/\//.test(value) ? quote(value) : value;
  return `${negated ? '-' : ''}${nameText}:${valueText}`;
}
