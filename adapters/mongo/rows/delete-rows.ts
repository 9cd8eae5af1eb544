/** Rows of read models that go with what they are about, however many they are. */
import type { Collection } from 'mongodb';
import type { Lease } from '../../../application/ports/index.js';
import type { Pieces, Row, RowWrite } from '../../../projections/kernel/index.js';

/** What a store does in a fraction of a call's deadline, and what does not keep it long from everything else. */
export const WRITTEN_AT_ONCE = 1000;

/** Deletes all that match, piece by piece. */
export async function deleteInChunks(
  rows: Collection<Row>,
  { deletePieces: { filter } }: Pieces,
  lease?: Pick<Lease, 'assertHeld'>,
): Promise<void> {
  for (let left = WRITTEN_AT_ONCE; left === WRITTEN_AT_ONCE; ) {
    const found = await rows.find(filter).project<Pick<Row, '_id'>>({ _id: 1 }).limit(WRITTEN_AT_ONCE).toArray();
    lease?.assertHeld();
    await rows.deleteMany({ ...filter, _id: { $in: found.map(({ _id }) => _id) } });
    left = found.length;
  }
}

/**
 * A batch without its purges by the value of a field that no row has by then. Of what is deleted in numbers most has
 * nothing that goes with it, and each purge is a call, or two, and parts what could be written by one.
 */
export async function dropEmptyDeletes(
  rows: Collection<Row>,
  writes: readonly RowWrite[],
): Promise<readonly RowWrite[]> {
  const wanted = new Map<string, Set<string>>();
  for (const write of writes) {
    const { field, value } = purgeOf(write) ?? {};
    if (field && value) wanted.set(field, (wanted.get(field) ?? new Set()).add(value));
  }
  const there = new Map<string, ReadonlySet<unknown>>();
  for (const [field, values] of wanted) {
    const found = values.size > 1 && (await stored(rows, field, [...values]));
    const given = found && givenBy(writes, field);
    if (given) there.set(field, new Set([...found, ...given]));
  }
  return writes.filter((write) => {
    const { field, value } = purgeOf(write) ?? {};
    return field === undefined || there.get(field)?.has(value) !== false;
  });
}

/**
 * What deletes all rows that have one value in one field, but for those that are newer. Not the one row of an id, which any
 * write before it may make, and no more than one call deletes.
 */
function purgeOf(write: RowWrite): { readonly field: string; readonly value: string } | undefined {
  const { filter } = 'deletePieces' in write ? write.deletePieces : 'deleteMany' in write ? write.deleteMany : {};
  const [asked, ...more] = Object.entries(filter ?? {}).filter(([name]) => name !== '_at');
  if (!asked || more.length > 0 || asked[0] === '_id') return undefined;
  const [field, value] = asked;
  return typeof value === 'string' ? { field, value } : undefined;
}

/** Which of these values rows have; undefined where so many have them that it takes long to tell. */
async function stored(rows: Collection<Row>, field: string, values: readonly string[]) {
  const found = await rows
    .find({ [field]: { $in: values } })
    .project<Row>({ [field]: 1 })
    .limit(WRITTEN_AT_ONCE)
    .toArray();
  const all = found.map((row) => row[field]);
  return all.length < WRITTEN_AT_ONCE && all.every((value) => typeof value === 'string') ? all : undefined;
}

/** The values that a batch itself gives to rows; undefined where it does something else to the field. */
function givenBy(writes: readonly RowWrite[], field: string): unknown[] | undefined {
  const given: unknown[] = [];
  for (const write of writes) {
    for (const [operator, fields] of operationsOf(write))
      for (const [path, value] of Object.entries(fields ?? {})) {
        if (path.split('.', 1)[0] !== field) continue;
        if (path !== field || typeof value !== 'string' || !SETS.has(operator)) return undefined;
        given.push(value);
      }
  }
  return given;
}

const SETS: ReadonlySet<string> = new Set(['$set', '$setOnInsert', '$unset']);

function operationsOf(write: RowWrite): [string, object][] {
  if ('insertOne' in write) return [['$set', write.insertOne.document]];
  if ('replaceOne' in write) return [['$set', write.replaceOne.replacement]];
  return 'updateOne' in write ? Object.entries(write.updateOne.update) : [];
}
