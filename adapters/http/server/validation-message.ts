/** Formats the first validation error of a body, query or message as a sentence that names the field. */
import type { ErrorObject } from 'ajv';
import type { JsonSchema } from '../../../domain/shared/index.js';

export interface FieldError {
  readonly where: 'body' | 'query' | 'message';
  /** Path to the field, for example `signingPublicKey/x`; empty for the whole value. */
  readonly field: string;
  /** Name of the field for people: the schema's `title`, or derived from its name: `Signing public key`. */
  readonly label: string;
  /** The violated JSON Schema keyword: `required`, `type`, `maxLength`, ... */
  readonly keyword: string;
  /** `is required`, as in the message. */
  readonly complaint: string;
  /** `<label> is required`, `is invalid`, `is too short`, `is too long`, `is not known`. */
  readonly message: string;
}

/** Needs ajv's `verbose` option, which adds the schema of an error. */
export function fieldError(where: FieldError['where'], error: ErrorObject): FieldError {
  const { keyword } = error;
  const path = error.instancePath.split('/').slice(1).map(unescapePointer);
  // Some errors concern a member of the object they point to.
  const member: string | undefined = error.params.missingProperty ?? error.params.additionalProperty;
  if (member !== undefined) path.push(member);
  const label = titleOf(error, member) ?? humanise(path, where);
  const complaint = complaintOf(error);
  return { where, field: path.join('/'), label, keyword, complaint, message: `${label} ${complaint}` };
}

/** The message with the path of the field: `campaign.utm_source is invalid`; within a list also with its `index`. */
export function messageWithPath({ field, label, complaint }: FieldError, index?: number): string {
  const path = [...(index === undefined ? [] : [`[${index}]`]), ...(field === '' ? [] : field.split('/'))];
  return `${path.length === 0 ? label : path.join('.')} ${complaint}`;
}

function complaintOf({ keyword, data }: ErrorObject): string {
  if (keyword === 'required' || (keyword === 'minLength' && data === '')) return 'is required';
  if (keyword === 'minLength' || keyword === 'minItems') return 'is too short';
  if (keyword === 'additionalProperties') return 'is not known';
  if (keyword === 'maxLength' || keyword === 'maxItems') return 'is too long';
  return 'is invalid';
}

function titleOf({ parentSchema }: ErrorObject, member: string | undefined): string | undefined {
  const schema: JsonSchema | undefined = member === undefined ? parentSchema : parentSchema?.properties?.[member];
  return typeof schema?.title === 'string' ? schema.title : undefined;
}

/** `signingPublicKey` becomes `Signing public key`; items are named by their list. */
function humanise(path: readonly string[], where: FieldError['where']): string {
  const name = path.findLast((part) => !/^\d+$/.test(part));
  if (name === undefined) return `The ${where}`;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const unescapePointer = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~');
