/** Changes of the query's text by clicks: add, exclude and remove conditions; what was typed stays. */
import { type Condition, formatCondition, parseTerms, type Term } from './syntax.js';

const isSame = (term: Term, { kind, name, value }: Condition) =>
  term.kind === kind && term.name === name && term.value === value;

/** Terms that a query has at most once. */
const isSingle = ({ kind, negated }: Condition) => !negated && kind !== 'field' && kind !== 'level';

/** Levels are alternatives and share a term: `level:WARN,ERROR`. */
const listed = ({ value }: Pick<Term, 'value'>) =>
  value
    .split(',')
    .map((level) => level.trim().toUpperCase())
    .filter(Boolean);

function removeTerms(text: string, isRemoved: (term: Term) => boolean): string {
  let result = text;
  for (const { start, end } of parseTerms(text).filter(isRemoved).reverse())
    result = `${result.slice(0, start).trimEnd()} ${result.slice(end).trimStart()}`;
  return result.trim();
}

const append = (text: string, condition: Condition) => `${text.trim()} ${formatCondition(condition)}`.trim();

/** Whether the text has the condition. */
export function hasCondition(text: string, condition: Condition): boolean {
  return parseTerms(text).some((term) =>
    condition.kind === 'level'
      ? term.kind === 'level' && term.negated === condition.negated && listed(term).includes(condition.value)
      : isSame(term, condition) && term.negated === condition.negated,
  );
}

/** Adds a condition. Replaces its opposite, and another value of a single-valued term. */
export function addCondition(text: string, condition: Condition): string {
  if (hasCondition(text, condition)) return text;
  if (condition.kind === 'level')
    return setLevels(removeCondition(text, opposite(condition)), condition, [condition.value]);
  const rest = removeTerms(
    text,
    (term) => isSame(term, condition) || (isSingle(condition) && term.kind === condition.kind && !term.negated),
  );
  return append(rest, condition);
}

export function removeCondition(text: string, condition: Condition): string {
  if (condition.kind === 'level') return setLevels(text, condition, [], [condition.value]);
  return removeTerms(text, (term) => isSame(term, condition) && term.negated === condition.negated);
}

const FIELD_WORD = /^([\p{L}_@$][\p{L}\p{N}_@$./-]*)={1,2}(?=[^=])/u;

/** The text with words such as `user.id=5`, which other languages write so, as conditions; undefined without one. */
export function withFieldWords(text: string): string | undefined {
  let result = text;
  for (const { kind, start, end } of [...parseTerms(text)].reverse())
    if (kind === 'word')
      result = result.slice(0, start) + text.slice(start, end).replace(FIELD_WORD, '$1:') + result.slice(end);
  return result === text ? undefined : result;
}

const opposite = (condition: Condition): Condition => ({ ...condition, negated: !condition.negated });

function setLevels(
  text: string,
  { negated }: Condition,
  added: readonly string[],
  removed: readonly string[] = [],
): string {
  const isList = (term: Term) => term.kind === 'level' && term.negated === negated;
  const levels = new Set([...parseTerms(text).filter(isList).flatMap(listed), ...added]);
  for (const level of removed) levels.delete(level);
  const rest = removeTerms(text, isList);
  if (levels.size === 0) return rest;
  return append(rest, { kind: 'level', name: 'level', value: [...levels].join(','), negated });
}
