/** What can be completed at the caret of the query bar, and how the text changes by it. */
import { formatCondition, parseTerms, type Term } from './syntax.js';

export interface CompletionPoint {
  /** The part of the text that a completion replaces. */
  readonly start: number;
  readonly end: number;
  /** What has been typed of it. */
  readonly typed: string;
  /** The term whose value is completed; undefined while a name is typed. */
  readonly term?: Term;
  readonly negated: boolean;
}

export function completionAt(text: string, caret: number): CompletionPoint {
  const term = parseTerms(text).find(({ start, end }) => start <= caret && caret <= end);
  if (!term) return { start: caret, end: caret, typed: '', negated: false };
  const { start, end, valueStart, negated, kind } = term;
  const nameStart = negated ? start + 1 : start;
  if (kind === 'word' || caret < valueStart)
    return { start: nameStart, end, typed: text.slice(nameStart, Math.max(nameStart, caret)), negated };
  // Levels are a list: the one at the caret is completed.
  const from = kind === 'level' ? Math.max(valueStart, text.lastIndexOf(',', caret - 1) + 1) : valueStart;
  const typed = text.slice(from, caret).replace(/^"/, '');
  return { start: from, end: kind === 'level' ? endOfLevel(text, caret, end) : end, typed, term, negated };
}

function endOfLevel(text: string, caret: number, end: number): number {
  const comma = text.indexOf(',', caret);
  return comma < 0 ? end : Math.min(comma, end);
}

export interface Completed {
  readonly text: string;
  readonly caret: number;
}

/** The text with a name and a colon at the point. */
export function completeName(text: string, point: CompletionPoint, name: string, isField: boolean): Completed {
  const token = formatCondition({ kind: isField ? 'field' : 'level', name, value: 'x', negated: false }).slice(0, -1);
  return splice(text, point, token);
}

/** The text with a value at the point, and a space after it. */
export function completeValue(text: string, point: CompletionPoint, value: string): Completed {
  const { term } = point;
  const token = formatCondition({ kind: 'field', name: 'x', value, negated: false }).slice(2);
  const isLast = point.end >= text.length || term?.kind === 'level';
  return splice(text, point, isLast && point.end >= text.length ? `${token} ` : token);
}

function splice(text: string, { start, end }: CompletionPoint, inserted: string): Completed {
  return { text: text.slice(0, start) + inserted + text.slice(end), caret: start + inserted.length };
}

/** Names that contain what was typed; those that start with it first. */
export function rank<Item>(items: readonly Item[], textOf: (item: Item) => string, typed: string): readonly Item[] {
  const needle = typed.toLowerCase();
  const found = items.filter((item) => textOf(item).toLowerCase().includes(needle));
  const starts = (item: Item) => textOf(item).toLowerCase().startsWith(needle);
  return [...found.filter(starts), ...found.filter((item) => !starts(item))];
}
