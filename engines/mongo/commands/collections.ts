/** Implements create, drop, listCollections and dropDatabase. */
import { Binary } from 'bson';
import { encode } from '../bson/encode.js';
import { documentValue, fieldsOf, textOf } from '../bson/value.js';
import { CommandError } from '../errors.js';
import { parseFilter } from '../query/filter.js';
import { compile } from '../query/match.js';
import { splitNamespace } from '../storage/catalog.js';
import type { Collection } from '../storage/collection.js';
import { argumentsOf } from './arguments.js';
import type { Engine } from './engine.js';
import { batchSizeOf } from './indexes.js';
import { namespaceOf, type Request } from './request.js';
import { deadlineAfter, listSource } from './search.js';

export async function create(engine: Engine, request: Request): Promise<Buffer> {
  argumentsOf(request, ['comment']);
  const namespace = namespaceOf(request);
  if (engine.catalog.find(namespace)) throw exists(namespace);
  const created = await engine.catalog.create(namespace);
  if (!created) throw exists(namespace);
  return encode({});
}

const exists = (namespace: string): CommandError => new CommandError(48, `Collection already exists. NS: ${namespace}`);

export async function drop(engine: Engine, request: Request): Promise<Buffer> {
  argumentsOf(request, ['comment']);
  const namespace = namespaceOf(request);
  const collection = engine.catalog.find(namespace);
  if (!collection) throw new CommandError(26, 'ns not found');
  const nIndexesWas = collection.indexes.length + 1;
  await engine.catalog.drop(collection);
  return encode({ nIndexesWas, ns: namespace });
}

export async function dropDatabase(engine: Engine, request: Request): Promise<Buffer> {
  argumentsOf(request, ['comment']);
  const collections = collectionsOf(engine, request.database);
  for (const collection of collections) if (!collection.dropped) await engine.catalog.drop(collection);
  return encode(collections.length > 0 ? { dropped: request.database } : {});
}

const collectionsOf = (engine: Engine, database: string): Collection[] =>
  [...engine.catalog.collections.values()].filter(({ namespace }) => namespace.startsWith(`${database}.`));

export async function listCollections(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['filter', 'nameOnly', 'authorizedCollections', 'cursor', 'comment']);
  const filter = args.object('filter');
  const matches = filter ? compile(parseFilter(filter)) : () => true;
  const nameOnly = args.flag('nameOnly', false);
  const documents = collectionsOf(engine, request.database)
    .sort((a, b) => (a.namespace < b.namespace ? -1 : 1))
    .map((collection) => encode(describe(collection)))
    .filter((document) => matches(documentValue(document)))
    .map((document) => (nameOnly ? nameOnlyEntry(document) : document));
  const namespace = `${request.database}.$cmd.listCollections`;
  const deadline = deadlineAfter(undefined);
  return engine.cursors.open({
    namespace,
    collection: undefined,
    source: listSource(documents),
    batchSize: batchSizeOf(args),
    deadline,
  });
}

const describe = ({ namespace, uuid }: Collection): object => ({
  name: splitNamespace(namespace)[1],
  type: 'collection',
  options: {},
  info: { readOnly: false, uuid: new Binary(uuid, Binary.SUBTYPE_UUID) },
  idIndex: { v: 2, key: { _id: 1 }, name: '_id_' },
});

const nameOnlyEntry = (document: Buffer): Buffer => {
  const name = fieldsOf(documentValue(document))[0]!;
  return encode({ name: textOf(name), type: 'collection' });
};
