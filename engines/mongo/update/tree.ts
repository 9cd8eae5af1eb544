/** Document tree for updates: objects are parsed only along the updated paths, everything else stays bytes. */
import { join, type Named } from '../bson/encode.js';
import { show } from '../bson/print.js';
import { documentValue, fieldsOf, Type, type Value } from '../bson/value.js';
import { CommandError, notImplemented } from '../errors.js';
import { isPosition } from '../query/path.js';

/** A value, or a parsed object. */
export type Node = Value | Container;

export interface Container {
  /** Removed fields have no node. */
  readonly fields: Child[];
  /** First field of each name, indexed once a large container is searched. */
  byName?: Map<string, Child>;
}

interface Child {
  readonly name: string;
  node: Node | undefined;
}

/** Maximum fields searched one by one. */
const LINEAR_LIMIT = 32;

function childOf(container: Container, name: string): Child | undefined {
  const { fields } = container;
  const isMatch = (child: Child) => child.name === name && child.node !== undefined;
  if (fields.length <= LINEAR_LIMIT) return fields.find(isMatch);
  container.byName ??= new Map(fields.toReversed().map((child) => [child.name, child]));
  const first = container.byName.get(name);
  // A name may occur twice.
  return first?.node ? first : first && fields.find(isMatch);
}

/** Remaining fields. */
export const childrenOf = ({ fields }: Container): { name: string; node: Node }[] =>
  fields.flatMap(({ name, node }) => (node ? [{ name, node }] : []));

const isContainer = (node: Node): node is Container => 'fields' in node;

export function openNode(value: Value): Container {
  const fields = fieldsOf(value).map((field): Child => ({ name: field.name, node: field }));
  return { fields };
}

/** Encodes a node with all its changes. */
export function closeNode(node: Node): Value {
  if (!isContainer(node)) return node;
  const children = childrenOf(node);
  return documentValue(join(children.map(({ name, node: child }): Named => [name, closeNode(child)])));
}

/** Target of a path: its last container, the name in it, and the current value. */
export interface Place {
  readonly container: Container;
  readonly name: string;
  readonly current: Node | undefined;
}

/**
 * Parses containers along a path. Without `create`, a missing parent yields undefined; with it, parents are created.
 * Errors: 28 for a parent that is no object, 2 for a position in an array.
 */
export function placeOf(root: Container, parts: readonly string[], create: boolean): Place | undefined {
  let container = root;
  for (let i = 0; ; i++) {
    const name = parts[i]!;
    const field = childOf(container, name);
    if (i === parts.length - 1) return { container, name, current: field?.node };
    if (!field?.node) {
      if (!create) return undefined;
      const created: Container = { fields: [] };
      setChild(container, name, created);
      container = created;
      continue;
    }
    if (!isContainer(field.node)) {
      const next = parts[i + 1]!;
      if (field.node.type === Type.array && isPosition(next))
        throw notImplemented(2, `updates by a position in an array, as in '${parts.join('.')}'`);
      if (field.node.type !== Type.object) {
        if (!create) return undefined;
        throw notViable(next, name, field.node);
      }
      field.node = openNode(field.node);
    }
    container = field.node;
  }
}

function notViable(name: string, parent: string, value: Value): CommandError {
  return new CommandError(28, `Cannot create field '${name}' in element {${parent}: ${show(value)}}`);
}

export function setChild(container: Container, name: string, node: Node): void {
  const field = childOf(container, name);
  if (field) field.node = node;
  else {
    const child = { name, node };
    container.fields.push(child);
    container.byName?.set(name, child);
  }
}

export function removeChild(container: Container, name: string): void {
  const field = childOf(container, name);
  if (field) field.node = undefined;
}
