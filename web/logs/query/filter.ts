/** What the query bar's text asks of the service, and what is wrong with it. */
import { texts } from '../texts.js';
import { parseTerms, type Term } from './syntax.js';

export interface FieldValue {
  readonly path: string;
  readonly value: string;
}

export interface Filter {
  readonly levels: readonly string[];
  readonly event?: string;
  readonly producer?: string;
  readonly correlation?: string;
  readonly audit?: boolean;
  readonly fields: readonly FieldValue[];
  /** Words that must all occur. */
  readonly words: readonly string[];
  readonly not: {
    readonly levels: readonly string[];
    readonly events: readonly string[];
    readonly producers: readonly string[];
    readonly fields: readonly FieldValue[];
  };
}

export interface ParsedQuery {
  readonly filter: Filter;
  /** What the reader has to change before the query can run. */
  readonly problem?: string;
}

const levelsOf = (terms: readonly Term[]) => [
  ...new Set(
    terms
      .flatMap(({ value }) => value.split(','))
      .map((level) => level.trim().toUpperCase())
      .filter(Boolean),
  ),
];

export function parseQuery(text: string): ParsedQuery {
  const terms = parseTerms(text);
  const of = (kind: Term['kind'], negated = false) =>
    terms.filter((term) => term.kind === kind && term.negated === negated);
  const values = (kind: Term['kind'], negated = false) => [...new Set(of(kind, negated).map(({ value }) => value))];
  const fields = (negated: boolean) => of('field', negated).map(({ name, value }) => ({ path: name, value }));
  const [event, producer, correlation, audit] = [
    values('event')[0],
    values('producer')[0],
    values('correlation')[0],
    values('audit')[0],
  ];
  const filter: Filter = {
    levels: levelsOf(of('level')),
    ...(event !== undefined && { event }),
    ...(producer !== undefined && { producer }),
    ...(correlation !== undefined && { correlation }),
    ...(audit !== undefined && { audit: audit === 'true' }),
    fields: fields(false),
    words: of('word').map(({ value }) => value),
    not: {
      levels: levelsOf(of('level', true)),
      events: values('event', true),
      producers: values('producer', true),
      fields: fields(true),
    },
  };
  const problem = problemOf(text, terms);
  return { filter, ...(problem !== undefined && { problem }) };
}

function problemOf(text: string, terms: readonly Term[]): string | undefined {
  for (const term of terms) {
    const { kind, name, value, negated, valueStart, end } = term;
    if (kind === 'word') {
      if (negated) return texts.query.onlyNamesExcluded(value);
    } else if (valueStart >= end) return texts.query.missingValue(text.slice(term.start, end));
    if (kind === 'audit' && (negated || !/^(?:true|false)$/.test(value))) return texts.query.auditValue;
    if (kind === 'correlation' && negated) return texts.query.noCorrelationExclusion;
    const isSingle = kind === 'event' || kind === 'producer' || kind === 'correlation' || kind === 'audit';
    const differs = (other: Term) => other.kind === kind && !other.negated && other.value !== value;
    if (isSingle && !negated && terms.some(differs)) return texts.query.twice(name);
  }
  return undefined;
}

/** As parameters of the query routes. */
export function filterParameters(filter: Filter): URLSearchParams {
  const { levels, event, producer, correlation, audit, fields, words, not } = filter;
  const parameters = new URLSearchParams();
  const set = (name: string, value: string | undefined) => value !== undefined && parameters.set(name, value);
  const append = (name: string, values: readonly string[]) => {
    for (const value of values) parameters.append(name, value);
  };
  set('level', levels.length > 0 ? levels.join(',') : undefined);
  set('event', event);
  set('producer', producer);
  set('correlation', correlation);
  set('audit', audit?.toString());
  set('q', words.length > 0 ? words.join(' ') : undefined);
  append(
    'field',
    fields.map(({ path }) => path),
  );
  append(
    'value',
    fields.map(({ value }) => value),
  );
  append('notLevel', not.levels);
  append('notEvent', not.events);
  append('notProducer', not.producers);
  append(
    'notField',
    not.fields.map(({ path }) => path),
  );
  append(
    'notValue',
    not.fields.map(({ value }) => value),
  );
  return parameters;
}
