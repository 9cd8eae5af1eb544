/** Builds the columns of a block, one per JSON path, and collects index terms of their values. */
import {
  childPath,
  correlationTerm,
  eventTerm,
  messageTerms,
  type Path,
  root,
  termsAt,
} from '../../../domain/logs/index-terms.js';
import type { Json, JsonObject } from '../../../domain/logs/json.js';
import { type LogRecord, TIMESTAMP_FIELDS } from '../../../domain/logs/record.js';
import type { TermSet } from '../../kernel/index.js';
import { type Column, createColumn } from './column.js';

/** Paths that get a column; later ones get none. */
const MAX_PATHS = 256;
const PATH_BYTES = 400;
/** Timestamps differ in every record and are never grouped or searched as text, so they get no column. */
const TIMESTAMP_PATHS = new Set<string>(TIMESTAMP_FIELDS);

interface Node {
  readonly path: Path;
  readonly below: Map<string, Node>;
  scalars?: Column;
  arrays?: Column;
}

export type Columns = ReturnType<typeof buildColumns>;

/** `terms` gets at least the terms of each value for the first record of a chunk that has it. */
export function buildColumns(terms: TermSet) {
  const [level, event, correlation] = [createColumn(), createColumn(), createColumn()];
  const scalars = new Map<string, Column>();
  const arrays = new Map<string, Column>();
  const rootNode: Node = { path: root, below: new Map() };
  let [nodes, count, chunk] = [0, 0, 0];
  let incomplete = false;
  const onTerm = (term: number) => void terms.add(term, chunk);

  function childNode(node: Node, key: string): Node | undefined {
    const existing = node.below.get(key);
    if (existing) return existing;
    if (nodes === MAX_PATHS) return undefined;
    nodes++;
    const child: Node = { path: childPath(node.path, key), below: new Map() };
    node.below.set(key, child);
    return child;
  }

  /** Drops a column if several keys lead to its path (keys may contain dots), because a record may have both. */
  function columnOf(columns: Map<string, Column>, path: string): Column {
    const existing = columns.get(path);
    const column = existing ?? createColumn();
    if (existing || TIMESTAMP_PATHS.has(path)) column.drop();
    columns.set(path, column);
    return column;
  }

  function addValue(node: Node, value: Json) {
    if (typeof value !== 'object' || value === null) {
      node.scalars ??= columnOf(scalars, node.path.text!);
      if (node.scalars.add(count, chunk, value)) termsAt(node.path, value, onTerm);
    } else if (Array.isArray(value)) {
      node.arrays ??= columnOf(arrays, node.path.text!);
      if (node.arrays.add(count, chunk, JSON.stringify(value))) termsAt(node.path, value, onTerm);
    } else {
      for (const key in value) {
        const member = (value as JsonObject)[key]!;
        const next = childNode(node, key);
        if (next) addValue(next, member);
        else {
          incomplete = true;
          termsAt(childPath(node.path, key), member, onTerm);
        }
      }
    }
  }

  return {
    /** Adds the next record, of the chunk with this number. */
    add(record: LogRecord, nth: number) {
      chunk = nth;
      const { event: name, correlationId } = record;
      level.add(count, chunk, record.level);
      if (name !== undefined && event.add(count, chunk, name)) onTerm(eventTerm(name));
      if (correlationId !== undefined && correlation.add(count, chunk, correlationId))
        onTerm(correlationTerm(correlationId));
      messageTerms(record, onTerm);
      addValue(rootNode, record.data);
      count++;
    },
    level,
    event,
    correlation,
    scalars,
    arrays,
    /** Whether some paths have no column. */
    get incomplete() {
      return incomplete;
    },
    get memory() {
      const all = [level, event, correlation, ...scalars.values(), ...arrays.values()];
      return all.reduce((sum, { memory }) => sum + memory, PATH_BYTES * nodes);
    },
  };
}
