/** A document under change: opened only as far as an update reaches into it, the rest stays bytes. */
import { arrayOf, join, type Named, NULL } from '../bson/make.js';
import { show } from '../bson/text.js';
import { documentValue, fieldsOf, Type, type Value } from '../bson/value.js';
import { CommandError } from '../errors.js';

/** A value, or an object or array that has been opened. */
export type Node = Value | Opened;

export interface Opened {
  readonly array: boolean;
  readonly fields: { name: string; node: Node }[];
}

const isOpened = (node: Node): node is Opened => 'fields' in node;

export function openNode(value: Value): Opened {
  const fields = fieldsOf(value).map((field) => ({ name: field.name, node: field as Node }));
  return { array: value.type === Type.array, fields };
}

/** The value of a node with all changes in it. */
export function closeNode(node: Node): Value {
  if (!isOpened(node)) return node;
  if (node.array) return arrayOf(node.fields.map((field) => closeNode(field.node)));
  return documentValue(join(node.fields.map(({ name, node: child }): Named => [name, closeNode(child)])));
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
    const field = container.fields.find((candidate) => candidate.name === name);
    if (i === parts.length - 1) return { container, name, current: field?.node };
    if (!field) {
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
  const field = container.fields.find((candidate) => candidate.name === name);
  if (field) {
    field.node = node;
    return;
  }
  if (container.array) {
    if (Number(name) - container.fields.length > MAX_PADDING)
      throw new CommandError(2, `can't backfill more than ${MAX_PADDING} elements`);
    while (container.fields.length < Number(name))
      container.fields.push({ name: String(container.fields.length), node: NULL });
  }
  container.fields.push({ name, node });
}

/** Takes a name away; in an array a null stays in its place. */
export function removeChild(container: Opened, name: string): void {
  const at = container.fields.findIndex((candidate) => candidate.name === name);
  if (at < 0) return;
  if (container.array) container.fields[at]!.node = NULL;
  else container.fields.splice(at, 1);
}
