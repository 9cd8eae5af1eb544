/** Which fields of a document a client gets: some (and `_id`), or all but some. */
import { arrayOf, join, type Named } from '../bson/encode.js';
import { isNumeric } from '../bson/number.js';
import { documentValue, elementsOf, fieldsOf, isArray, isObject, Type, type Value } from '../bson/value.js';
import { CommandError, notImplemented } from '../errors.js';
import { isTrue } from './filter.js';

/** What is said of the fields below a name: everything, or more names. */
type Tree = Map<string, Tree | true>;

export interface Projection {
  readonly including: boolean;
  readonly id: boolean;
  readonly tree: Tree;
}

/** Undefined for an empty projection. Errors: 31249 and 31250 for paths in conflict, 31253 and 31254 for a mixture, 2 for expressions. */
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
    const wanted = isTrue(field);
    if (name === '_id') {
      id = wanted;
      continue;
    }
    if (including !== undefined && including !== wanted)
      throw new CommandError(
        wanted ? 31253 : 31254,
        `Cannot do ${wanted ? 'inclusion' : 'exclusion'} on field ${name} in ${wanted ? 'exclusion' : 'inclusion'} projection`,
      );
    including = wanted;
    plant(tree, name);
  }
  if (including === undefined && id === undefined) return undefined;
  return { including: including ?? id === true, id: id ?? true, tree };
}

function plant(tree: Tree, path: string): void {
  const parts = path.split('.');
  if (parts.includes('')) throw new CommandError(40353, "FieldPath must not end with a '.'.");
  let at = tree;
  for (const [i, part] of parts.entries()) {
    const there = at.get(part);
    const last = i === parts.length - 1;
    if (there === true || (there && last))
      throw new CommandError(there === true ? 31249 : 31250, `Path collision at ${path}`);
    if (last) at.set(part, true);
    else {
      const below: Tree = there ?? new Map();
      at.set(part, below);
      at = below;
    }
  }
}

/** The document as the client gets it. */
export function project(projection: Projection | undefined, document: Buffer): Buffer {
  if (!projection) return document;
  const { including, id, tree } = projection;
  const kept = fieldsOf(documentValue(document)).flatMap((field): Named[] => {
    if (field.name === '_id') return id ? [['_id', field]] : [];
    const value = keep(tree.get(field.name), field, including);
    return value ? [[field.name, value]] : [];
  });
  return join(kept);
}

function keep(said: Tree | true | undefined, value: Value, including: boolean): Value | undefined {
  if (said === undefined) return including ? undefined : value;
  if (said === true) return including ? value : undefined;
  if (isArray(value)) {
    // An element that is no document has none of the fields named: inclusion drops it, exclusion leaves it.
    const elements = elementsOf(value).map((element) => keep(said, element, including));
    return arrayOf(elements.filter((element) => element !== undefined));
  }
  if (!isObject(value)) return including ? undefined : value;
  const kept = fieldsOf(value).flatMap((field): Named[] => {
    const left = keep(said.get(field.name), field, including);
    return left ? [[field.name, left]] : [];
  });
  return documentValue(join(kept));
}
