/** A document under change: opened only as far as an update reaches into it, the rest stays bytes. */
import { arrayOf, join, type Named, NULL } from '../bson/encode.js';
import { show } from '../bson/print.js';
import { documentValue, fieldsOf, Type, type Value } from '../bson/value.js';
import { CommandError } from '../errors.js';

/** A value, or an object or array that has been opened. */
export type Node = Value | Opened;

export interface Opened {
  readonly array: boolean;
  /** Those taken away have no node. */
  readonly fields: Child[];
  /** The first of each name, once it was looked for among many. */
  byName?: Map<string, Child>;
}

interface Child {
  readonly name: string;
  node: Node | undefined;
}

/** So many fields are gone through for each that is looked for. */
const FEW = 32;

function childOf(container: Opened, name: string): Child | undefined {
  const { fields } = container;
  const isIt = (child: Child) => child.name === name && child.node !== undefined;
  if (fields.length <= FEW) return fields.find(isIt);
  container.byName ??= new Map(fields.toReversed().map((child) => [child.name, child]));
  const first = container.byName.get(name);
  // A name may stand there twice.
  return first?.node ? first : first && fields.find(isIt);
}

function addChild(container: Opened, child: Child): void {
  container.fields.push(child);
  container.byName?.set(child.name, child);
}

/** What is left of the fields. */
export const childrenOf = ({ fields }: Opened): { name: string; node: Node }[] =>
  fields.flatMap(({ name, node }) => (node ? [{ name, node }] : []));

const isOpened = (node: Node): node is Opened => 'fields' in node;

export function openNode(value: Value): Opened {
  const fields = fieldsOf(value).map((field): Child => ({ name: field.name, node: field }));
  return { array: value.type === Type.array, fields };
}

/** The value of a node with all changes in it. */
export function closeNode(node: Node): Value {
  if (!isOpened(node)) return node;
  const children = childrenOf(node);
  if (node.array) return arrayOf(children.map((child) => closeNode(child.node)));
  return documentValue(join(children.map(({ name, node: child }): Named => [name, closeNode(child)])));
}

/** Where a path leads: its last container, the name in it, and what is there now. */
export interface Place {
  readonly container: Opened;
  readonly name: string;
  readonly current: Node | undefined;
}

/** The most elements an update may put before the one it sets in an array. */
const MAX_PADDING = 1_500_000;

/**
 * Opens the way to a path. Without `create` a way that does not exist is undefined; with it the objects on the
 * way are made. Errors: 28 for a way through something that is neither object nor array.
 */
export function placeOf(root: Opened, parts: readonly string[], create: boolean): Place | undefined {
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
      const fresh: Opened = { array: false, fields: [] };
      setChild(container, name, fresh);
      container = fresh;
      continue;
    }
    if (!isOpened(field.node)) {
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

/** Puts a node under a name; an array is filled with nulls up to a position behind its end. Errors: 2. */
export function setChild(container: Opened, name: string, node: Node): void {
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

/** Takes a name away; in an array a null stays in its place. */
export function removeChild(container: Opened, name: string): void {
  const field = childOf(container, name);
  if (field) field.node = container.array ? NULL : undefined;
}
