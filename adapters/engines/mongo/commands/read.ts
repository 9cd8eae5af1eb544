/** find, getMore, killCursors, count, distinct, and the one aggregate there is. */
import { Long } from 'bson';
import { keyOf } from '../bson/key.js';
import { arrayOf, EMPTY_DOCUMENT, encode, join } from '../bson/make.js';
import { longOf, toNumber } from '../bson/number.js';
import { documentValue, type Field, fieldsOf, isObject, Type, textOf, type Value } from '../bson/value.js';
import { CommandError } from '../errors.js';
import { parseFilter } from '../query/filter.js';
import { pathOf } from '../query/path.js';
import { parseProjection } from '../query/projection.js';
import { type Query, queryOf } from '../query/scan.js';
import { parseSort } from '../query/sort.js';
import { indexValues } from '../storage/keys.js';
import { type Deadline, deadlineAfter, listSource, Search, type Source } from './cursors.js';
import type { Engine } from './engine.js';
import { type Arguments, argumentsOf, checkNamespace, namespaceOf, type Request } from './request.js';

const DEFAULT_BATCH = 101;
const EVERYTHING = documentValue(EMPTY_DOCUMENT);

export const FIND = [
  'filter',
  'sort',
  'projection',
  'hint',
  'skip',
  'limit',
  'batchSize',
  'singleBatch',
  'noCursorTimeout',
  'allowDiskUse',
  'allowPartialResults',
  'comment',
];

export function queryFrom(args: Arguments, filter: string): Query {
  const sort = args.object('sort');
  return queryOf(parseFilter(args.object(filter) ?? EVERYTHING), sort ? parseSort(sort) : [], hintOf(args));
}

/** An empty hint is none. */
export function hintOf(args: Arguments): Value | undefined {
  const hint = args.get('hint');
  return hint && isObject(hint) && fieldsOf(hint).length === 0 ? undefined : hint;
}

const deadlineOf = (args: Arguments): Deadline => deadlineAfter(args.whole('maxTimeMS'));

export async function find(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, FIND);
  const namespace = namespaceOf(request);
  const query = queryFrom(args, 'filter');
  const projection = args.object('projection');
  const [skip, limit] = [args.whole('skip') ?? 0, args.whole('limit') ?? 0];
  const collection = engine.catalog.find(namespace);
  return engine.cursors.first({
    namespace,
    collection,
    source: sourceOf(engine, namespace, query, skip, limit),
    projection: projection && parseProjection(projection),
    batchSize: args.whole('batchSize') ?? DEFAULT_BATCH,
    single: args.flag('singleBatch', false),
    keep: args.flag('noCursorTimeout', false),
    deadline: deadlineOf(args),
  });
}

/** A search, or nothing at all where there is no collection. */
export function sourceOf(
  engine: Engine,
  namespace: string,
  query: Query,
  skip: number,
  limit: number,
): Source {
  const collection = engine.catalog.find(namespace);
  return collection ? new Search(engine, collection, query, skip, limit) : listSource([]);
}

export async function getMore(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['collection', 'batchSize', 'comment']);
  const id = args.required('getMore');
  if (id.type !== Type.long) throw new CommandError(14, "Field 'getMore' must be of type long");
  const collection = args.required('collection');
  if (collection.type !== Type.string)
    throw new CommandError(14, "Field 'collection' must be of type string");
  const batchSize = args.whole('batchSize', 1);
  const namespace = `${request.database}.${textOf(collection)}`;
  return engine.cursors.more(longOf(id), namespace, batchSize, deadlineOf(args));
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

export async function count(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['query', 'limit', 'skip', 'hint', 'fields', 'comment']);
  const namespace = namespaceOf(request);
  const query = queryFrom(args, 'query');
  // A negative limit means the same as a positive one.
  const limit = Math.abs(args.whole('limit', Number.MIN_SAFE_INTEGER) ?? 0);
  const skip = args.whole('skip') ?? 0;
  return encode({ n: await countMatches(engine, namespace, query, skip, limit, deadlineOf(args)) });
}

/** How many documents match, between `skip` and `limit` (0 = no limit). */
export async function countMatches(
  engine: Engine,
  namespace: string,
  query: Query,
  skip: number,
  limit: number,
  deadline: Deadline,
): Promise<number> {
  const collection = engine.catalog.find(namespace);
  if (!collection) return 0;
  const isEverything = query.filter.kind === 'and' && query.filter.filters.length === 0 && !query.hint;
  if (isEverything) {
    const left = Math.max(0, collection.flushedCount - skip);
    return limit === 0 ? left : Math.min(left, limit);
  }
  const search = new Search(engine, collection, query, skip, limit);
  let n = 0;
  while (!search.done) n += (await search.take(1000, deadline)).length;
  return n;
}

export async function distinct(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['key', 'query', 'comment', 'hint']);
  const namespace = namespaceOf(request);
  args.required('key');
  const path = pathOf(args.text('key')!);
  const source = sourceOf(engine, namespace, queryFrom(args, 'query'), 0, 0);
  const values = new Map<string, Value>();
  const deadline = deadlineOf(args);
  let bytes = 0;
  while (!source.done)
    for (const document of await source.take(1000, deadline))
      for (const value of indexValues(documentValue(document), path)) {
        // A missing field and an empty array have nothing to show.
        if (!value || value.type === Type.undefined) continue;
        const key = keyOf(value).toString('latin1');
        if (values.has(key)) continue;
        values.set(key, value);
        bytes += value.end - value.start + 8;
        if (bytes > 16 * 1024 * 1024) throw new CommandError(17217, 'distinct too big, 16mb cap');
      }
  const inOrder = [...values].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
  return join([['values', arrayOf(inOrder)]]);
}

/** What `countDocuments` sends: `$match`, perhaps `$skip` and `$limit`, then a `$group` that counts. Nothing else. */
export async function aggregate(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, [
    'pipeline',
    'cursor',
    'hint',
    'allowDiskUse',
    'comment',
    'bypassDocumentValidation',
  ]);
  const target = args.required('aggregate');
  if (target.type !== Type.string)
    throw new CommandError(73, 'Invalid aggregate target: only collections are supported');
  const namespace = checkNamespace(request.database, textOf(target));
  const cursor = args.object('cursor');
  if (!cursor)
    throw new CommandError(
      9,
      "The 'cursor' option is required, except for aggregate with the explain argument",
    );
  for (const { name } of fieldsOf(cursor))
    if (name !== 'batchSize')
      throw new CommandError(9, `cursor object can't contain fields other than batchSize`);
  args.required('pipeline');
  const stages = (args.array('pipeline') ?? []).map(stageOf);
  const group = stages.pop();
  if (group?.name !== '$group') throw unsupported(group?.name ?? '(none)');
  const label = countingGroup(group);
  const [query, skip, limit] = selection(stages, hintOf(args));
  const n =
    limit === 0 ? 0 : await countMatches(engine, namespace, query, skip, limit ?? 0, deadlineOf(args));
  const documents =
    n > 0
      ? [
          join([
            ['_id', label],
            ['n', fieldsOf(documentValue(encode({ n })))[0]!],
          ]),
        ]
      : [];
  const size = fieldsOf(cursor)[0];
  const batchSize = size ? toNumber(size) : DEFAULT_BATCH;
  return engine.cursors.first({
    namespace,
    collection: undefined,
    source: listSource(documents),
    batchSize,
    deadline: deadlineOf(args),
  });
}

const unsupported = (name: string): CommandError =>
  new CommandError(40324, `Unrecognized pipeline stage name: '${name}'`);

function stageOf(stage: Value): Field {
  const fields = isObject(stage) ? fieldsOf(stage) : [];
  if (!isObject(stage)) throw new CommandError(14, "Each element of the 'pipeline' array must be an object");
  if (fields.length !== 1)
    throw new CommandError(40323, 'A pipeline stage specification object must contain exactly one field.');
  return fields[0]!;
}

/** The constant `_id` of `{$group: {_id, n: {$sum: 1}}}`. */
function countingGroup(group: Field): Value {
  const [id, n, more] = isObject(group) ? fieldsOf(group) : [];
  const [sum, other] = n && isObject(n) ? fieldsOf(n) : [];
  const counts = id?.name === '_id' && n?.name === 'n' && !more && sum?.name === '$sum' && !other;
  if (!counts || isObject(id) || id.type === Type.string || sum.type !== Type.int || toNumber(sum) !== 1)
    throw unsupported('$group');
  return id;
}

function selection(
  stages: readonly Field[],
  hint: Value | undefined,
): [Query, skip: number, limit: number | undefined] {
  let filter = EVERYTHING;
  let skip = 0;
  let limit: number | undefined;
  const order = ['$match', '$skip', '$limit'];
  let last = -1;
  for (const stage of stages) {
    const at = order.indexOf(stage.name);
    if (at <= last) throw unsupported(stage.name);
    last = at;
    if (stage.name === '$match') {
      if (!isObject(stage))
        throw new CommandError(15959, 'the match filter must be an expression in an object');
      filter = stage;
    } else if (stage.name === '$skip') skip = bound(stage, 0);
    else limit = bound(stage, 1);
  }
  return [queryOf(parseFilter(filter), [], hint), skip, limit];
}

function bound(stage: Field, least: number): number {
  const number =
    stage.type === Type.int || stage.type === Type.long || stage.type === Type.double
      ? toNumber(stage)
      : Number.NaN;
  if (!Number.isSafeInteger(number) || number < least)
    throw new CommandError(
      least === 1 ? 15958 : 15956,
      `the ${stage.name.slice(1)} must be a ${least === 1 ? 'positive' : 'nonnegative'} number`,
    );
  return number;
}
