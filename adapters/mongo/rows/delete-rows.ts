/** Deletes rows of read models by filter, in chunks. */
import type { Collection } from 'mongodb';
import type { Lease } from '../../../application/ports/index.js';
import type { Pieces, Row, RowWrite } from '../../../projections/kernel/index.js';

/** Rows per write: takes a fraction of a call's deadline, so that other calls are not delayed. */
export const CHUNK_ROWS = 1000;

export async function deleteInChunks(
  rows: Collection<Row>,
  { deletePieces: { filter } }: Pieces,
  lease?: Pick<Lease, 'assertHeld'>,
): Promise<void> {
  for (let deleted = CHUNK_ROWS; deleted === CHUNK_ROWS; ) {
    const found = await rows.find(filter).project<Pick<Row, '_id'>>({ _id: 1 }).limit(CHUNK_ROWS).toArray();
    lease?.assertHeld();
    await rows.deleteMany({ ...filter, _id: { $in: found.map(({ _id }) => _id) } });
    deleted = found.length;
  }
}

/**
 * Removes deletes by a field value that no row has. Most deleted things have no dependent rows, and each such
 * delete costs one or two calls and splits a batch of writes.
 */
export async function dropEmptyDeletes(
  rows: Collection<Row>,
  writes: readonly RowWrite[],
): Promise<readonly RowWrite[]> {
  const valuesByField = new Map<string, Set<string>>();
  for (const write of writes) {
    const { field, value } = deletedValue(write) ?? {};
    if (field && value) valuesByField.set(field, (valuesByField.get(field) ?? new Set()).add(value));
  }
  const existing = new Map<string, ReadonlySet<unknown>>();
  for (const [field, values] of valuesByField) {
    const found = values.size > 1 && (await findStored(rows, field, [...values]));
    const written = found && writtenValues(writes, field);
    if (written) existing.set(field, new Set([...found, ...written]));
  }
  return writes.filter((write) => {
    const { field, value } = deletedValue(write) ?? {};
    return field === undefined || existing.get(field)?.has(value) !== false;
  });
}

/**
 * Returns the field and value of a delete by one field, older rows only. Not by id, since an earlier write may
 * create that row, and not a delete that fits one call.
 */
function deletedValue(write: RowWrite): { readonly field: string; readonly value: string } | undefined {
  const { filter } = 'deletePieces' in write ? write.deletePieces : 'deleteMany' in write ? write.deleteMany : {};
  const [entry, ...others] = Object.entries(filter ?? {}).filter(([name]) => name !== '_at');
  if (!entry || others.length > 0 || entry[0] === '_id') return undefined;
  const [field, value] = entry;
  return typeof value === 'string' ? { field, value } : undefined;
}

/** Returns which of the values occur in stored rows; undefined if too many rows match to tell quickly. */
async function findStored(rows: Collection<Row>, field: string, values: readonly string[]) {
  const found = await rows
    .find({ [field]: { $in: values } })
    .project<Row>({ [field]: 1 })
    .limit(CHUNK_ROWS)
    .toArray();
  const all = found.map((row) => row[field]);
  return all.length < CHUNK_ROWS && all.every((value) => typeof value === 'string') ? all : undefined;
}

/** Returns the values that the batch itself writes to the field; undefined if it changes the field in another way. */
function writtenValues(writes: readonly RowWrite[], field: string): unknown[] | undefined {
  const written: unknown[] = [];
  for (const write of writes) {
    for (const [operator, fields] of operationsOf(write))
      for (const [path, value] of Object.entries(fields ?? {})) {
        if (path.split('.', 1)[0] !== field) continue;
        if (path !== field || typeof value !== 'string' || !SET_OPERATORS.has(operator)) return undefined;
        written.push(value);
      }
  }
  return written;
}

const SET_OPERATORS: ReadonlySet<string> = new Set(['$set', '$setOnInsert', '$unset']);

function operationsOf(write: RowWrite): [string, object][] {
  if ('insertOne' in write) return [['$set', write.insertOne.document]];
  if ('replaceOne' in write) return [['$set', write.replaceOne.replacement]];
  return 'updateOne' in write ? Object.entries(write.updateOne.update) : [];
}
