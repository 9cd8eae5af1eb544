/** Document tree for updates: containers are parsed only along the updated paths, everything else stays bytes. */
import { arrayOf, join, type Named, NULL } from '../bson/encode.js';
import { show } from '../bson/print.js';
import { documentValue, fieldsOf, Type, type Value } from '../bson/value.js';
import { CommandError } from '../errors.js';

/** A value, or a parsed object or array. */
export type Node = Value | Container;

export interface Container {
  readonly array: boolean;
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

function addChild(container: Container, child: Child): void {
  container.fields.push(child);
  container.byName?.set(child.name, child);
}

/** Remaining fields. */
export const childrenOf = ({ fields }: Container): { name: string; node: Node }[] =>
  fields.flatMap(({ name, node }) => (node ? [{ name, node }] : []));

const isContainer = (node: Node): node is Container => 'fields' in node;

export function openNode(value: Value): Container {
  const fields = fieldsOf(value).map((field): Child => ({ name: field.name, node: field }));
  return { array: value.type === Type.array, fields };
}

/** Encodes a node with all its changes. */
export function closeNode(node: Node): Value {
  if (!isContainer(node)) return node;
  const children = childrenOf(node);
  if (node.array) return arrayOf(children.map((child) => closeNode(child.node)));
  return documentValue(join(children.map(({ name, node: child }): Named => [name, closeNode(child)])));
}

/** Target of a path: its last container, the name in it, and the current value. */
export interface Place {
  readonly container: Container;
  readonly name: string;
  readonly current: Node | undefined;
}

/** Maximum null elements an update may insert before the element it sets. */
const MAX_PADDING = 1_500_000;

/**
 * Parses containers along a path. Without `create`, a missing parent yields undefined; with it, parents are created.
 * Errors: 28 for a parent that is neither object nor array.
 */
export function placeOf(root: Container, parts: readonly string[], create: boolean): Place | undefined {
  let container = root;
  for (let i = 0; ; i++) {
    const name = parts[i]!;
    if (container.array && !isPosition(name)) {
      if (!create) return undefined;
      throw notViable(name, parts[i - 1]!, closeNode(container));
    }
    const field = childOf(container, name);
    if (i === parts.length - 1) return { container, name, current: field?.node };
    if (!field?.node) {
      if (!create) return undefined;
      const created: Container = { array: false, fields: [] };
      setChild(container, name, created);
      container = created;
      continue;
    }
    if (!isContainer(field.node)) {
      if (field.node.type !== Type.object && field.node.type !== Type.array) {
        if (!create) return undefined;
        throw notViable(parts[i + 1]!, name, field.node);
      }
      field.node = openNode(field.node);
    }
    container = field.node;
  }
}

const isPosition = (name: string): boolean => /^(0|[1-9]\d{0,8})$/.test(name);

function notViable(name: string, parent: string, value: Value): CommandError {
  return new CommandError(28, `Cannot create field '${name}' in element {${parent}: ${show(value)}}`);
}

/** Sets a child; an array is padded with nulls up to the position. Errors: 2. */
export function setChild(container: Container, name: string, node: Node): void {
  const field = childOf(container, name);
  if (field) {
    field.node = node;
    return;
  }
  if (container.array) {
    if (Number(name) - container.fields.length > MAX_PADDING)
      throw new CommandError(2, `can't backfill more than ${MAX_PADDING} elements`);
    while (container.fields.length < Number(name))
      addChild(container, { name: String(container.fields.length), node: NULL });
  }
  addChild(container, { name, node });
}

/** Removes a child; in an array it is replaced by null. */
export function removeChild(container: Container, name: string): void {
  const field = childOf(container, name);
  if (field) field.node = container.array ? NULL : undefined;
}
