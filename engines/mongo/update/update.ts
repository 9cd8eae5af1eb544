/** Parses update documents and applies them: operators at paths, or a whole replacement. */
import { join, type Named } from '../bson/encode.js';
import { show } from '../bson/print.js';
import {
  documentValue,
  elementsOf,
  type Field,
  fieldsOf,
  isArray,
  isObject,
  Type,
  typeName,
  type Value,
} from '../bson/value.js';
import { CommandError, notImplemented } from '../errors.js';
import { type Path, pathOf } from '../query/path.js';
import { idOf } from '../storage/collection.js';
import { type Operator, operatorOf } from './operators.js';
import { type Container, closeNode, openNode, placeOf, removeChild, setChild } from './tree.js';

interface Change {
  readonly path: Path;
  readonly operator: Operator;
  /** True if missing parents are not created. */
  readonly onlyExisting: boolean;
}

export type Update =
  | { readonly kind: 'replacement'; readonly document: Value }
  | { readonly kind: 'changes'; readonly changes: readonly Change[] };

/** Errors: 9 malformed, 2 and 14 invalid operands, 40 conflicting paths, 52 and 56 invalid names. */
export function parseUpdate(update: Value): Update {
  if (isArray(update)) throw notImplemented(9, 'updates by a pipeline');
  if (!isObject(update))
    throw new CommandError(9, `Update argument must be either an object or an array, got ${typeName(update)}`);
  const operators = fieldsOf(update);
  if (!operators[0]?.name.startsWith('$'))
    return { kind: 'replacement', document: checkReplacement(update, operators) };
  const changes = operators.flatMap(parseOperator);
  // New fields are added in the order of their names, not of the update.
  if (changes.length > 1) changes.sort((a, b) => comparePaths(a.path, b.path));
  checkConflicts(changes);
  return { kind: 'changes', changes };
}

function checkReplacement(update: Value, fields: readonly Field[]): Value {
  for (const { name } of fields)
    if (name.startsWith('$'))
      throw new CommandError(52, `The dollar ($) prefixed field '${name}' in '${name}' is not valid for storage.`);
  for (const field of fields) checkStorable(field.name, '', field);
  checkTimestamps(fields);
  return update;
}

function parseOperator(operator: Field): Change[] {
  const { name } = operator;
  if (!name.startsWith('$') || !KNOWN.has(name))
    throw new CommandError(
      9,
      `Unknown modifier: ${name}. Expected a valid update modifier or pipeline-style update specified as an array`,
    );
  if (!isObject(operator))
    throw new CommandError(
      9,
      `Modifiers operate on fields but we found type ${typeName(operator)} instead. For example: {$mod: {<field>: ...}} not {${name}: ${show(operator)}}`,
    );
  const operands = fieldsOf(operator);
  if (operands.length === 0)
    throw new CommandError(9, `'${name}' is empty. You must specify a field like so: {${name}: {<field>: ...}}`);
  return operands.map((operand) => {
    const path = checkPath(operand.name);
    if (name === '$set' || name === '$setOnInsert' || name === '$push' || name === '$addToSet')
      checkStorable(path.text, name, operand);
    const onlyExisting = name === '$unset' || name === '$pull';
    return { path, operator: operatorOf(name, operand)!, onlyExisting };
  });
}

const KNOWN = new Set(['$set', '$unset', '$inc', '$max', '$push', '$pull', '$addToSet', '$setOnInsert']);

const MAX_PARTS = 80;

function checkPath(text: string): Path {
  const path = pathOf(text);
  const parts = path.names;
  if (parts.length > MAX_PARTS) throw notImplemented(15, `paths of more than ${MAX_PARTS} parts`);
  if (text === '') throw new CommandError(56, 'An empty update path is not valid.');
  if (parts.includes(''))
    throw new CommandError(56, `The update path '${text}' contains an empty field name, which is not allowed.`);
  for (const part of parts) {
    if (part === '$') throw notImplemented(2, `the positional operator in '${text}'`);
    if (part.startsWith('$[')) throw notImplemented(2, `array filters, as in '${text}'`);
    if (part.startsWith('$'))
      throw new CommandError(52, `The dollar ($) prefixed field '${part}' in '${text}' is not valid for storage.`);
  }
  return path;
}

/** Errors: 52 for a name that starts with `$` anywhere in a value to be stored. */
function checkStorable(path: string, name: string, value: Value): void {
  if (isArray(value)) for (const element of elementsOf(value)) checkStorable(path, name, element);
  if (!isObject(value)) return;
  const fields = fieldsOf(value);
  // The operator checks its own clauses.
  const clauses = (name === '$push' || name === '$addToSet') && fields.some((field) => field.name === '$each');
  for (const field of fields) {
    if (field.name.startsWith('$') && !clauses)
      throw new CommandError(
        52,
        `The dollar ($) prefixed field '${field.name}' in '${path}.${field.name}' is not valid for storage.`,
      );
    checkStorable(`${path}.${field.name}`, '', field);
  }
}

function comparePaths(a: Path, b: Path): number {
  for (let i = 0; i < Math.min(a.parts.length, b.parts.length); i++) {
    const order = Buffer.compare(a.parts[i]!.bytes, b.parts[i]!.bytes);
    if (order !== 0) return order;
  }
  return a.parts.length - b.parts.length;
}

function checkConflicts(changes: readonly Change[]): void {
  for (let i = 1; i < changes.length; i++) {
    const [before, after] = [changes[i - 1]!.path, changes[i]!.path];
    if (before.names.every((name, k) => after.names[k] === name))
      throw new CommandError(40, `Updating the path '${after.text}' would create a conflict at '${before.text}'`);
  }
}

/** Errors: 2 for an empty timestamp, which the real server fills with the current time. */
export function checkTimestamps(fields: readonly Field[]): void {
  for (const { type, bytes, start, name } of fields)
    if (type === Type.timestamp && bytes.readBigUInt64LE(start) === 0n)
      throw notImplemented(2, `filling the empty timestamp '${name}'`);
}

/** True if an update counts as a modification even when it leaves the document unchanged. */
export const alwaysModifies = (update: Update): boolean =>
  // The server compares the replacement as sent, without an `_id`.
  update.kind === 'replacement' && !fieldsOf(update.document).some(({ name }) => name === '_id');

/** Returns the updated document, or the same buffer if nothing changes. Errors: 2, 14, 28, 66, 10334. */
export function applyUpdate(update: Update, before: Buffer): Buffer {
  const document = documentValue(before);
  if (update.kind === 'replacement') return checkSize(replace(update.document, idOf(document)));
  const root = openNode(document);
  const id = idOf(document);
  applyChanges(root, update.changes, id, false);
  const after = checkSize(closeNode(root).bytes);
  if (after.equals(before)) return before;
  const storedId = fieldsOf(documentValue(after)).find(({ name }) => name === '_id');
  if (!storedId || !sameBytes(storedId, id))
    throw new CommandError(66, "Performing an update on the path '_id' would modify the immutable field '_id'");
  return after;
}

/** An `_id` must not change its type either. */
const sameBytes = (a: Value, b: Value): boolean =>
  a.type === b.type && a.bytes.compare(b.bytes, b.start, b.end, a.start, a.end) === 0;

/** Puts the `_id` of the replaced document first in its replacement. */
function replace(replacement: Value, id: Value): Buffer {
  const fields = fieldsOf(replacement);
  const documentId = fields.find(({ name }) => name === '_id');
  if (documentId && !sameBytes(documentId, id))
    throw new CommandError(
      66,
      `After applying the update, the (immutable) field '_id' was found to have been altered to _id: ${show(documentId)}`,
    );
  return join([
    ['_id', id],
    ...fields.filter((field) => field !== documentId).map((field): Named => [field.name, field]),
  ]);
}

/** Applies operators to a parsed document. */
export function applyChanges(
  root: Container,
  changes: readonly Change[],
  id: Value | undefined,
  inserting: boolean,
): void {
  for (const { path, operator, onlyExisting } of changes) {
    const existing = placeOf(root, path.names, false);
    if (onlyExisting && !existing?.current) continue;
    const current = existing?.current && closeNode(existing.current);
    const outcome = operator({ path: path.text, current, id, inserting });
    if (outcome === 'keep') continue;
    if (outcome === 'remove') removeChild(existing!.container, existing!.name);
    else {
      const place = existing ?? placeOf(root, path.names, true)!;
      setChild(place.container, place.name, outcome);
    }
  }
}

/** Maximum bytes of a document. */
const MAX_DOCUMENT = 16 * 1024 * 1024;

/** Errors: 10334 for a document of more than 16 MiB. */
export function checkSize(document: Buffer): Buffer {
  if (document.length > MAX_DOCUMENT)
    throw new CommandError(
      10334,
      `BSONObj size: ${document.length} is invalid. Size must be between 0 and 16793600(16MB)`,
    );
  return document;
}
