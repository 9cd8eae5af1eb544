/** Implements the only supported aggregate: the counting pipeline of `countDocuments`. */
import { encode, join } from '../bson/encode.js';
import { toNumber } from '../bson/number.js';
import {
  documentValue,
  type Field,
  fieldsByName,
  fieldsOf,
  isObject,
  Type,
  textOf,
  type Value,
} from '../bson/value.js';
import { CommandError, notImplemented } from '../errors.js';
import { parseFilter } from '../query/filter.js';
import { type Query, queryOf } from '../query/scan.js';
import { Arguments, argumentsOf } from './arguments.js';
import type { Engine } from './engine.js';
import { countMatches, DEFAULT_BATCH, deadlineOf, hintOf, MATCH_ALL } from './read.js';
import { checkNamespace, type Request } from './request.js';
import { listSource } from './search.js';

/** Runs `$match`, optional `$skip` and `$limit`, then a `$group` that counts. */
export async function aggregate(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['pipeline', 'cursor', 'hint', 'comment', 'bypassDocumentValidation']);
  const target = args.required('aggregate');
  if (target.type !== Type.string)
    throw new CommandError(73, 'Invalid aggregate target: only collections are supported');
  const namespace = checkNamespace(request.database, textOf(target));
  const cursor = args.object('cursor');
  if (!cursor)
    throw new CommandError(9, "The 'cursor' option is required, except for aggregate with the explain argument");
  const batchSize = new Arguments('aggregate.cursor', fieldsByName(cursor), ['batchSize'], 9).integer('batchSize');
  args.required('pipeline');
  const stages = (args.array('pipeline') ?? []).map(stageOf);
  const group = stages.pop();
  if (group?.name !== '$group') throw countingOnlyError();
  const label = countingGroup(group);
  const [query, skip, limit] = selection(stages, hintOf(args));
  const n = limit === 0 ? 0 : await countMatches(engine, namespace, query, skip, limit ?? 0, deadlineOf(args, request));
  const documents =
    n > 0
      ? [
          join([
            ['_id', label],
            ['n', fieldsOf(documentValue(encode({ n })))[0]!],
          ]),
        ]
      : [];
  return engine.cursors.open({
    namespace,
    collection: undefined,
    source: listSource(documents),
    batchSize: batchSize ?? DEFAULT_BATCH,
    deadline: deadlineOf(args, request),
  });
}

const countingOnlyError = (): CommandError =>
  notImplemented(40324, 'pipelines other than $match, $skip, $limit and a $group that counts, in this order');

function stageOf(stage: Value): Field {
  const fields = isObject(stage) ? fieldsOf(stage) : [];
  if (!isObject(stage)) throw new CommandError(14, "Each element of the 'pipeline' array must be an object");
  if (fields.length !== 1)
    throw new CommandError(40323, 'A pipeline stage specification object must contain exactly one field.');
  return fields[0]!;
}

/** Returns the constant `_id` of `{$group: {_id, n: {$sum: 1}}}`. */
function countingGroup(group: Field): Value {
  const [id, n, more] = isObject(group) ? fieldsOf(group) : [];
  const [sum, other] = n && isObject(n) ? fieldsOf(n) : [];
  const counts = id?.name === '_id' && n?.name === 'n' && !more && sum?.name === '$sum' && !other;
  if (!counts || isObject(id) || id.type === Type.string || sum.type !== Type.int || toNumber(sum) !== 1)
    throw countingOnlyError();
  return id;
}

function selection(
  stages: readonly Field[],
  hint: Value | undefined,
): [Query, skip: number, limit: number | undefined] {
  let filter = MATCH_ALL;
  let skip = 0;
  let limit: number | undefined;
  const order = ['$match', '$skip', '$limit'];
  let last = -1;
  for (const stage of stages) {
    const at = order.indexOf(stage.name);
    if (at <= last) throw countingOnlyError();
    last = at;
    if (stage.name === '$match') {
      if (!isObject(stage)) throw new CommandError(15959, 'the match filter must be an expression in an object');
      filter = stage;
    } else if (stage.name === '$skip') skip = stageNumber(stage, 0);
    else limit = stageNumber(stage, 1);
  }
  return [queryOf(parseFilter(filter), [], hint), skip, limit];
}

function stageNumber(stage: Field, minimum: number): number {
  const number =
    stage.type === Type.int || stage.type === Type.long || stage.type === Type.double ? toNumber(stage) : Number.NaN;
  if (!Number.isSafeInteger(number) || number < minimum)
    throw new CommandError(
      minimum === 1 ? 15958 : 15956,
      `the ${stage.name.slice(1)} must be a ${minimum === 1 ? 'positive' : 'nonnegative'} number`,
    );
  return number;
}
