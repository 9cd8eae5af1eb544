/** Implements find, getMore, killCursors and count. */
import { Long } from 'bson';
import { EMPTY_DOCUMENT, encode } from '../bson/encode.js';
import { longOf } from '../bson/number.js';
import { documentValue, Type, textOf } from '../bson/value.js';
import { CommandError } from '../errors.js';
import { parseFilter } from '../query/filter.js';
import { parseProjection } from '../query/projection.js';
import { type Query, queryOf } from '../query/scan.js';
import { parseSort } from '../query/sort.js';
import { type Arguments, argumentsOf } from './arguments.js';
import type { Engine } from './engine.js';
import { namespaceOf, type Request } from './request.js';
import { type Deadline, deadlineAfter, listSource, Search, type Source } from './search.js';

/** Documents in a first batch if the client sets no batch size. */
export const DEFAULT_BATCH = 101;
/** Empty filter. */
const MATCH_ALL = documentValue(EMPTY_DOCUMENT);

const FIND_ARGUMENTS = ['filter', 'sort', 'projection', 'skip', 'limit', 'batchSize', 'singleBatch', 'comment'];

export function queryFrom(args: Arguments, filter: string): Query {
  const sort = args.object('sort');
  return queryOf(parseFilter(args.object(filter) ?? MATCH_ALL), sort ? parseSort(sort) : []);
}

/** Deadline of a command: `maxTimeMS` and the client's disconnection. */
export function deadlineOf(args: Arguments, { connection }: Request): Deadline {
  const ms = args.integer('maxTimeMS');
  if (ms !== undefined && ms > 2 ** 31 - 1) throw new CommandError(2, 'maxTimeMS is out of range');
  return deadlineAfter(ms, connection);
}

export async function find(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, FIND_ARGUMENTS);
  const namespace = namespaceOf(request);
  const query = queryFrom(args, 'filter');
  const projection = args.object('projection');
  const [skip, limit] = [args.integer('skip') ?? 0, args.integer('limit') ?? 0];
  const collection = engine.catalog.find(namespace);
  return engine.cursors.open({
    namespace,
    collection,
    source: sourceOf(engine, namespace, query, skip, limit),
    projection: projection && parseProjection(projection),
    batchSize: args.integer('batchSize') ?? DEFAULT_BATCH,
    single: args.flag('singleBatch', false),
    client: request.connection,
    deadline: deadlineOf(args, request),
  });
}

/** Source of a query; empty if the collection does not exist. */
function sourceOf(engine: Engine, namespace: string, query: Query, skip: number, limit: number): Source {
  const collection = engine.catalog.find(namespace);
  return collection ? new Search(engine.documents, collection, query, skip, limit, engine.sortMemory) : listSource([]);
}

export async function getMore(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['collection', 'batchSize', 'comment']);
  const id = args.required('getMore');
  if (id.type !== Type.long) throw new CommandError(14, "Field 'getMore' must be of type long");
  const collection = args.required('collection');
  if (collection.type !== Type.string) throw new CommandError(14, "Field 'collection' must be of type string");
  const batchSize = args.integer('batchSize', 1);
  const namespace = `${request.database}.${textOf(collection)}`;
  return engine.cursors.next(longOf(id), namespace, batchSize, deadlineOf(args, request), request.connection);
}

export async function killCursors(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['cursors']);
  args.required('cursors');
  const ids = args.array('cursors') ?? [];
  if (ids.length === 0) throw new CommandError(2, 'Must specify at least one cursor id in: { killCursors }');
  const killed: Long[] = [];
  const unknown: Long[] = [];
  for (const id of ids) {
    if (id.type !== Type.long)
      throw new CommandError(9, "field 'cursors' contains an element that is not of type long");
    (engine.cursors.kill(longOf(id)) ? killed : unknown).push(Long.fromBigInt(longOf(id)));
  }
  return encode({ cursorsKilled: killed, cursorsNotFound: unknown, cursorsAlive: [], cursorsUnknown: [] });
}

/** Number of documents in a collection, as of the last flush. */
export async function count(engine: Engine, request: Request): Promise<Buffer> {
  argumentsOf(request, ['comment']);
  return encode({ n: engine.catalog.find(namespaceOf(request))?.flushedCount ?? 0 });
}

/** Counts matching documents. */
export async function countMatches(
  engine: Engine,
  namespace: string,
  query: Query,
  deadline: Deadline,
): Promise<number> {
  const collection = engine.catalog.find(namespace);
  if (!collection) return 0;
  if (query.filter.kind === 'and' && query.filter.filters.length === 0) return collection.flushedCount;
  const search = new Search(engine.documents, collection, query, 0, 0, engine.sortMemory);
  let n = 0;
  while (!search.done) n += (await search.take(1000, deadline)).length;
  return n;
}
