/** The columns of a block that is being built, one for every path of its records; the terms of their values besides. */
import { below, correlationTerm, eventTerm, type Path, root, termsAt } from '../../../domain/logs/index-terms.js';
import type { Json, JsonObject } from '../../../domain/logs/json.js';
import { type LogRecord, TIMESTAMP_FIELDS } from '../../../domain/logs/record.js';
import { type Column, createColumn } from './column.js';

/** Records of more different paths have columns for those that came first. */
const MOST_PATHS = 256;
const PATH_BYTES = 400;
/** Every record has another, which nobody counts, nor asks for by its text. */
const UNTOLD = new Set<string>(TIMESTAMP_FIELDS);

/** Keys that lead to each other, as a dotted path; arrays end it, objects do not. */
interface Node {
  /** Undefined where no key is. */
  readonly path: string | undefined;
  readonly terms: Path;
  readonly below: Map<string, Node>;
  scalars?: Column;
  arrays?: Column;
}

export interface Columns {
  /** The next record; `found` is told the terms of what no record had before, at least. */
  add(record: LogRecord, found: (term: number) => void): void;
  readonly level: Column;
  readonly event: Column;
  readonly correlation: Column;
  /** By path: strings, numbers, booleans and nulls. */
  readonly scalars: ReadonlyMap<string, Column>;
  /** By path: arrays, as JSON texts. */
  readonly arrays: ReadonlyMap<string, Column>;
  /** Some paths have no column. */
  readonly incomplete: boolean;
  /** In bytes, about. */
  readonly memory: number;
}

export function buildColumns(): Columns {
  const [level, event, correlation] = [createColumn(), createColumn(), createColumn()];
  const scalars = new Map<string, Column>();
  const arrays = new Map<string, Column>();
  const top: Node = { path: undefined, terms: root, below: new Map() };
  let [nodes, count] = [0, 0];
  let incomplete = false;

  function nodeBelow(node: Node, key: string): Node | undefined {
    const known = node.below.get(key);
    if (known) return known;
    if (nodes === MOST_PATHS) return undefined;
    nodes++;
    const path = node.path === undefined ? key : `${node.path}.${key}`;
    const made: Node = { path, terms: below(node.terms, key), below: new Map() };
    node.below.set(key, made);
    return made;
  }

  /** One that other keys lead to as well, with dots in them, is given up: a record may have both. */
  function columnOf(among: Map<string, Column>, path: string): Column {
    const known = among.get(path);
    const column = known ?? createColumn();
    if (known || UNTOLD.has(path)) column.drop();
    among.set(path, column);
    return column;
  }

  function put(node: Node, value: Json, found: (term: number) => void) {
    if (typeof value !== 'object' || value === null) {
      node.scalars ??= columnOf(scalars, node.path!);
      if (node.scalars.add(count, value)) termsAt(node.terms, value, found);
    } else if (Array.isArray(value)) {
      node.arrays ??= columnOf(arrays, node.path!);
      if (node.arrays.add(count, JSON.stringify(value))) termsAt(node.terms, value, found);
    } else {
      for (const key in value) {
        const member = (value as JsonObject)[key]!;
        const next = nodeBelow(node, key);
        if (next) put(next, member, found);
        else {
          incomplete = true;
          termsAt(below(node.terms, key), member, found);
        }
      }
    }
  }

  return {
    add(record, found) {
      level.add(count, record.level);
      if (record.event !== undefined && event.add(count, record.event)) found(eventTerm(record.event));
      if (record.correlationId !== undefined && correlation.add(count, record.correlationId))
        found(correlationTerm(record.correlationId));
      put(top, record.data, found);
      count++;
    },
    level,
    event,
    correlation,
    scalars,
    arrays,
    get incomplete() {
      return incomplete;
    },
    get memory() {
      const all = [level, event, correlation, ...scalars.values(), ...arrays.values()];
      return all.reduce((sum, { memory }) => sum + memory, PATH_BYTES * nodes);
    },
  };
}
