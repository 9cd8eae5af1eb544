/** Builds the document that an upsert inserts: fields fixed by the filter, then the update. */
import { ObjectId } from 'bson';
import { equalValues } from '../bson/compare.js';
import { join, type Named, toValue } from '../bson/encode.js';
import { show } from '../bson/print.js';
import { documentValue, fieldsOf, Type, type Value } from '../bson/value.js';
import { CommandError } from '../errors.js';
import type { Filter } from '../query/filter.js';
import { type Container, childrenOf, closeNode, placeOf, setChild } from './tree.js';
import { applyChanges, checkSize, checkTimestamps, type Update } from './update.js';

/**
 * Errors: 54 for a field set twice by the filter, 66 for an update that changes the filter's `_id`, 53 for an invalid
 * `_id`.
 */
export function upsertedDocument(filter: Filter, update: Update): Buffer {
  // In the order of their paths, not of the filter.
  const pinnedFields = equalities(filter).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  if (update.kind === 'replacement') {
    const id = pinnedFields.find(([path]) => path === '_id')?.[1];
    return withId(
      fieldsOf(update.document).map((field): Named => [field.name, field]),
      id,
    );
  }
  const root: Container = { fields: [] };
  for (const [path, value] of pinnedFields) {
    const place = placeOf(root, path.split('.'), true)!;
    if (place.current) throw new CommandError(54, `cannot infer query fields to set, path '${path}' is matched twice`);
    setChild(place.container, place.name, value);
  }
  const id = pinnedFields.find(([path]) => path === '_id')?.[1];
  applyChanges(root, update.changes, id, true);
  return withId(
    childrenOf(root).map(({ name, node }): Named => [name, closeNode(node)]),
    id,
  );
}

/** Fields fixed by equalities and `and`s of a filter. Errors: 54 for a field fixed twice. */
function equalities(
  filter: Filter,
  found: [string, Value][] = [],
  used = { paths: new Set<string>(), parents: new Set<string>() },
): [string, Value][] {
  if (filter.kind === 'and' || (filter.kind === 'or' && filter.filters.length === 1)) {
    for (const part of filter.filters) equalities(part, found, used);
    return found;
  }
  const value = pinnedValue(filter);
  if (!value || !('path' in filter)) return found;
  const { text, names } = filter.path;
  const parents = names.slice(1).map((_, i) => names.slice(0, i + 1).join('.'));
  if (used.parents.has(text) || [text, ...parents].some((path) => used.paths.has(path)))
    throw new CommandError(54, `cannot infer query fields to set, path '${text}' is matched twice`);
  used.paths.add(text);
  for (const path of parents) used.parents.add(path);
  found.push([text, value]);
  return found;
}

function pinnedValue(filter: Filter): Value | undefined {
  if (filter.kind === 'eq') return filter.operand;
  if (filter.kind === 'in' && filter.operands.length === 1) return [...filter.operands][0];
  return undefined;
}

/** Puts `_id` first; generates one if there is none. */
function withId(fields: readonly Named[], filterId?: Value): Buffer {
  const documentId = fields.find(([name]) => name === '_id')?.[1];
  if (documentId && filterId && !equalValues(documentId, filterId))
    throw new CommandError(66, `Performing an update on the path '_id' would modify the immutable field '_id'`);
  const id = documentId ?? filterId ?? toValue(new ObjectId());
  checkId(id, 53);
  return checkSize(join([['_id', id], ...fields.filter(([name]) => name !== '_id')]));
}

/** Errors: `code` for an `_id` of an unsupported type. */
function checkId(id: Value, code: number): void {
  if (id.type === Type.array) throw new CommandError(code, "can't use an array for _id");
  if (id.type === Type.object)
    for (const { name } of fieldsOf(id))
      if (name.startsWith('$'))
        throw new CommandError(
          code === 2 ? 52 : code,
          `_id fields may not contain '$'-prefixed fields: ${name} is not valid for storage. ${show(id)}`,
        );
}

/** Document to be stored, with `_id` first, generated if missing. Errors: 2, 52, 10334. */
export function storableDocument(document: Buffer): Buffer {
  const fields = fieldsOf(documentValue(document));
  for (const { name } of fields)
    if (name.startsWith('$')) throw new CommandError(2, `Document can't have $ prefixed field names: ${name}`);
  checkTimestamps(fields);
  const id = fields.find(({ name }) => name === '_id');
  if (id) checkId(id, 2);
  if (fields[0]?.name === '_id') return checkSize(document);
  return withId(fields.map((field): Named => [field.name, field]));
}
