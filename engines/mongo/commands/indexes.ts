/** Implements createIndexes and listIndexes. */
import { Int32 } from 'bson';
import { equalValues } from '../bson/compare.js';
import { encode, join, type Named, toValue } from '../bson/encode.js';
import { show } from '../bson/print.js';
import { documentValue, type Field, fieldsByName, type Value } from '../bson/value.js';
import { CommandError } from '../errors.js';
import { isTrue } from '../query/filter.js';
import { ID_PATTERN } from '../storage/collection.js';
import { checkSpecification, type Index, openIndex } from '../storage/definition.js';
import { buildIndexes } from '../storage/index-build.js';
import { Arguments, argumentsOf, documentsOf } from './arguments.js';
import type { Engine } from './engine.js';
import { namespaceOf, type Request } from './request.js';
import { deadlineAfter, listSource } from './search.js';

export async function createIndexes(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['indexes', 'commitQuorum', 'comment']);
  const namespace = namespaceOf(request);
  args.required('indexes');
  const list = args.array('indexes') ?? [];
  if (list.length === 0) throw new CommandError(2, 'Must specify at least one index to create');
  const requested = documentsOf(request, 'indexes').map((specification) => {
    const fields = checkSpecification(specification);
    return { fields, specification: normalizeSpecification(fields) };
  });
  const created = !engine.catalog.find(namespace);
  const collection = await engine.catalog.ensure(namespace);
  const before = collection.indexes.filter(({ ready }) => ready).length + 1;
  const newIndexes: Index[] = [];
  for (const { fields, specification } of requested) {
    if (isIdIndex(fields.get('key')!)) continue;
    const index = openIndex(specification, { space: engine.catalog.takeSpace() });
    if (!indexExists(index, [...collection.indexes, ...newIndexes])) newIndexes.push({ ...index, ready: false });
  }
  if (before + newIndexes.length > MAX_INDEXES)
    throw new CommandError(67, `add index fails, too many indexes for ${namespace}`);
  if (newIndexes.length > 0) await buildIndexes(engine.catalog, engine.documents, collection, newIndexes);
  const after = before + newIndexes.length;
  return encode({
    numIndexesBefore: before,
    numIndexesAfter: after,
    createdCollectionAutomatically: created,
    ...(newIndexes.length === 0 ? { note: 'all indexes already exist' } : { commitQuorum: 'votingMembers' }),
  });
}

/** Maximum indexes of a collection, including the one on `_id`, as on the real server. */
const MAX_INDEXES = 64;

const isIdIndex = (key: Value): boolean => equalValues(key, documentValue(ID_PATTERN));

/** Specification as stored and listed: version first, then key, name and the flags that are true. */
function normalizeSpecification(fields: ReadonlyMap<string, Field>): Buffer {
  const members: Named[] = [
    ['v', toValue(new Int32(2))],
    ['key', fields.get('key')!],
    ['name', fields.get('name')!],
  ];
  for (const flag of ['unique', 'sparse', 'background']) {
    const field = fields.get(flag);
    if (field && (flag === 'background' || isTrue(field))) members.push([flag, field]);
  }
  const expiry = fields.get('expireAfterSeconds');
  if (expiry) members.push(['expireAfterSeconds', expiry]);
  return join(members);
}

/** True if the same index exists. Errors: 85 and 86 for one that is nearly the same. */
function indexExists(index: Index, indexes: readonly Index[]): boolean {
  const sameKey = indexes.find(({ key }) => equalValues(key, index.key));
  const sameName = indexes.find(({ name }) => name === index.name);
  const sameOptions = (other: Index): boolean =>
    other.unique === index.unique &&
    other.sparse === index.sparse &&
    other.expireAfterSeconds === index.expireAfterSeconds;
  if (sameName && !equalValues(sameName.key, index.key))
    throw new CommandError(
      86,
      `An existing index has the same name as the requested index. When index names are not specified, they are auto generated and can cause conflicts. Please refer to our documentation. Requested index: ${show(documentValue(index.specification))}, existing index: ${show(documentValue(sameName.specification))}`,
    );
  if (!sameKey) return false;
  if (sameKey.name !== index.name)
    throw new CommandError(85, `Index already exists with a different name: ${sameKey.name}`);
  if (!sameOptions(sameKey))
    throw new CommandError(
      85,
      `An equivalent index already exists with the same name but different options. Requested index: ${show(documentValue(index.specification))}, existing index: ${show(documentValue(sameKey.specification))}`,
    );
  return true;
}

const ID_INDEX = { v: new Int32(2), key: { _id: new Int32(1) }, name: '_id_' };

export async function listIndexes(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['cursor', 'comment']);
  const namespace = namespaceOf(request);
  const collection = engine.catalog.find(namespace);
  if (!collection) throw new CommandError(26, `ns does not exist: ${namespace}`);
  const ready = collection.indexes.filter((index) => index.ready).map((index) => index.specification);
  const source = listSource([encode(ID_INDEX), ...ready]);
  return engine.cursors.open({
    namespace,
    collection,
    source,
    batchSize: batchSizeOf(args),
    deadline: deadlineAfter(undefined),
  });
}

/** Batch size in a `cursor` argument; unlimited without one. */
export function batchSizeOf(args: Arguments): number {
  const cursor = args.object('cursor');
  if (!cursor) return Number.MAX_SAFE_INTEGER;
  return (
    new Arguments(`${args.scope}.cursor`, fieldsByName(cursor), ['batchSize']).integer('batchSize') ??
    Number.MAX_SAFE_INTEGER
  );
}
