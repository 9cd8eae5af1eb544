/** The filters of queries as words and flags, and as the query parameters of the API. */
import { Argument, InvalidArgumentError, Option } from 'commander';
import { isUsualLevel, USUAL_LEVELS } from '../../../domain/logs/levels.js';
import type { Call } from '../command.js';
import { INSTANT, instant } from '../instants.js';

export const filterArguments: readonly Argument[] = [
  new Argument('[word...]', 'Words that must all occur in the message or another text of the record'),
];

export const filterOptions: readonly Option[] = [
  new Option('--from <time>', `From this time on: ${INSTANT}`).argParser(instant(false)),
  new Option('--to <time>', 'Until this time; a date stands for its whole day').argParser(instant(true)),
  new Option('-l, --level <levels>', 'One level or several, with commas: ERROR,FATAL').argParser(levels),
  new Option('--event <name>', 'Records of this event'),
  new Option('--producer <id>', 'Records of this producer'),
  new Option('--correlation <id>', 'Records with this correlation, request or trace id'),
  new Option('--field <path=value>', 'Records whose field has this value; may be repeated').argParser(pair),
  new Option('--audit [true|false]', 'Audit records only, or none of them').choices(['true', 'false']),
];

function pair(text: string, before: readonly string[] = []): readonly string[] {
  if (text.indexOf('=') < 1) throw new InvalidArgumentError('It reads path=value, for example user.id=42.');
  return [...before, text];
}

function levels(text: string): string {
  const given = text.split(',').map((each) => each.trim().toUpperCase());
  if (given.every(isUsualLevel)) return given.join(',');
  throw new InvalidArgumentError(`Each level must be one of ${USUAL_LEVELS.join(', ')}.`);
}

/** Parameters that `query`, `aggregate` and `tail` have in common. */
export function filterParameters({ args, options }: Pick<Call, 'args' | 'options'>): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const name of ['from', 'to', 'level', 'event', 'producer', 'correlation']) {
    if (options[name] !== undefined) parameters.set(name, String(options[name]));
  }
  if (options.audit !== undefined) parameters.set('audit', String(options.audit));
  if (args.length > 0) parameters.set('q', args.join(' '));
  for (const text of (options.field as readonly string[] | undefined) ?? []) {
    const equals = text.indexOf('=');
    parameters.append('field', text.slice(0, equals));
    parameters.append('value', text.slice(equals + 1));
  }
  return parameters;
}

/** For options that count. */
export const wholeNumberFrom =
  (least: 0 | 1) =>
  (text: string): number => {
    if (/^(?:0|[1-9]\d{0,8})$/.test(text) && Number(text) >= least) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
  };

export const wholeNumber = wholeNumberFrom(1);
