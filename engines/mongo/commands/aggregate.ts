/** Implements the only supported aggregate: the counting pipeline of `countDocuments`. */
import { equalValues } from '../bson/compare.js';
import { encode, toValue } from '../bson/encode.js';
import { fieldsByName, isObject, Type, textOf, type Value } from '../bson/value.js';
import { CommandError, notImplemented } from '../errors.js';
import { parseFilter } from '../query/filter.js';
import { queryOf } from '../query/scan.js';
import { Arguments, argumentsOf } from './arguments.js';
import type { Engine } from './engine.js';
import { countMatches, DEFAULT_BATCH, deadlineOf } from './read.js';
import { checkNamespace, type Request } from './request.js';
import { listSource } from './search.js';

const COUNT = toValue({ _id: 1, n: { $sum: 1 } });

export async function aggregate(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['pipeline', 'cursor', 'comment']);
  const target = args.required('aggregate');
  if (target.type !== Type.string)
    throw new CommandError(73, 'Invalid aggregate target: only collections are supported');
  const namespace = checkNamespace(request.database, textOf(target));
  const cursor = args.object('cursor');
  if (!cursor)
    throw new CommandError(9, "The 'cursor' option is required, except for aggregate with the explain argument");
  const batchSize = new Arguments('aggregate.cursor', fieldsByName(cursor), ['batchSize'], 9).integer('batchSize');
  args.required('pipeline');
  const [match, group, more] = args.array('pipeline') ?? [];
  const filter = match && operandOf(match, '$match');
  const counted = group && operandOf(group, '$group');
  if (!filter || !counted || more || !equalValues(counted, COUNT))
    throw notImplemented(40324, 'pipelines other than a $match and a $group that counts');
  const deadline = deadlineOf(args, request);
  const n = await countMatches(engine, namespace, queryOf(parseFilter(filter)), deadline);
  const source = listSource(n > 0 ? [encode({ _id: 1, n })] : []);
  return engine.cursors.open({
    namespace,
    collection: undefined,
    source,
    batchSize: batchSize ?? DEFAULT_BATCH,
    deadline,
  });
}

/** Operand of a stage if it has that name and is a document. */
function operandOf(stage: Value, name: string): Value | undefined {
  const operand = isObject(stage) ? fieldsByName(stage).get(name) : undefined;
  return operand && isObject(operand) ? operand : undefined;
}
