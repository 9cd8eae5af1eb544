/** Projections: include some fields (and `_id`), or exclude some. */
import { arrayOf, join, type Named } from '../bson/encode.js';
import { isNumeric } from '../bson/number.js';
import { documentValue, elementsOf, fieldsOf, isArray, isObject, Type, type Value } from '../bson/value.js';
import { CommandError, notImplemented } from '../errors.js';
import { isTrue } from './filter.js';

/** Fields of a projection by name: a whole field, or a subtree. */
type Tree = Map<string, Tree | true>;

export interface Projection {
  readonly including: boolean;
  readonly id: boolean;
  readonly tree: Tree;
}

/**
 * Parses a projection; undefined if it is empty. Errors: 31249 and 31250 for path collisions, 31253 and 31254 for a
 * mixture, 2 for expressions.
 */
export function parseProjection(document: Value): Projection | undefined {
  let including: boolean | undefined;
  let id: boolean | undefined;
  const tree: Tree = new Map();
  for (const field of fieldsOf(document)) {
    const { name } = field;
    if (name.startsWith('$') || name.includes('.$')) throw notImplemented(2, `the positional projection '${name}'`);
    if (name.startsWith('_id.')) throw notImplemented(2, `the projection '${name}', below _id`);
    if (field.type !== Type.boolean && !isNumeric(field.type))
      throw notImplemented(2, `expressions in projections, as in '${name}'`);
    const isIncluded = isTrue(field);
    if (name === '_id') {
      id = isIncluded;
      continue;
    }
    if (including !== undefined && including !== isIncluded)
      throw new CommandError(
        isIncluded ? 31253 : 31254,
        `Cannot do ${isIncluded ? 'inclusion' : 'exclusion'} on field ${name} in ${isIncluded ? 'exclusion' : 'inclusion'} projection`,
      );
    including = isIncluded;
    addPath(tree, name);
  }
  if (including === undefined && id === undefined) return undefined;
  return { including: including ?? id === true, id: id ?? true, tree };
}

function addPath(tree: Tree, path: string): void {
  const parts = path.split('.');
  if (parts.includes('')) throw new CommandError(40353, "FieldPath must not end with a '.'.");
  let at = tree;
  for (const [i, part] of parts.entries()) {
    const existing = at.get(part);
    const last = i === parts.length - 1;
    if (existing === true || (existing && last))
      throw new CommandError(existing === true ? 31249 : 31250, `Path collision at ${path}`);
    if (last) at.set(part, true);
    else {
      const children: Tree = existing ?? new Map();
      at.set(part, children);
      at = children;
    }
  }
}

/** Applies a projection to a document. */
export function project(projection: Projection | undefined, document: Buffer): Buffer {
  if (!projection) return document;
  const { including, id, tree } = projection;
  const fields = fieldsOf(documentValue(document)).flatMap((field): Named[] => {
    if (field.name === '_id') return id ? [['_id', field]] : [];
    const value = projectValue(tree.get(field.name), field, including);
    return value ? [[field.name, value]] : [];
  });
  return join(fields);
}

function projectValue(selection: Tree | true | undefined, value: Value, including: boolean): Value | undefined {
  if (selection === undefined) return including ? undefined : value;
  if (selection === true) return including ? value : undefined;
  if (isArray(value)) {
    // Inclusion drops array elements that are not documents; exclusion keeps them.
    const elements = elementsOf(value).map((element) => projectValue(selection, element, including));
    return arrayOf(elements.filter((element) => element !== undefined));
  }
  if (!isObject(value)) return including ? undefined : value;
  const fields = fieldsOf(value).flatMap((field): Named[] => {
    const projected = projectValue(selection.get(field.name), field, including);
    return projected ? [[field.name, projected]] : [];
  });
  return documentValue(join(fields));
}
