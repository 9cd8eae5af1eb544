/** Filters of queries: arguments and options, and their query parameters of the API. */
import { Argument, InvalidArgumentError, Option } from 'commander';
import { isUsualLevel, USUAL_LEVELS } from '../../../domain/logs/levels.js';
import { INSTANT, instant } from '../argument-parsers.js';
import type { Call } from '../command.js';

export const filterArguments: readonly Argument[] = [
  new Argument('[word...]', 'Words that must all occur in the message or another text of the record'),
];

export const filterOptions: readonly Option[] = [
  new Option('--from <time>', `From this time: ${INSTANT}`).argParser(instant(false)),
  new Option('--to <time>', 'Until this time; a date includes its whole day').argParser(instant(true)),
  new Option('-l, --level <levels>', 'One or more levels, separated by commas: ERROR,FATAL').argParser(parseLevels),
  new Option('--event <name>', 'Records of this event'),
  new Option('--producer <id>', 'Records of this producer'),
  new Option('--correlation <id>', 'Records with this correlation, request or trace id'),
  new Option('--field <path=value>', 'Records whose field has this value; may be repeated').argParser(parseField),
  new Option('--audit [true|false]', 'Only audit records, or only others').choices(['true', 'false']),
];

function parseField(text: string, previous: readonly string[] = []): readonly string[] {
  if (text.indexOf('=') < 1) throw new InvalidArgumentError('It must be path=value, for example user.id=42.');
  return [...previous, text];
}

function parseLevels(text: string): string {
  const names = text.split(',').map((each) => each.trim().toUpperCase());
  if (names.every(isUsualLevel)) return names.join(',');
  throw new InvalidArgumentError(`Each level must be one of ${USUAL_LEVELS.join(', ')}.`);
}

/** Query parameters shared by `query`, `aggregate` and `tail`. */
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
