/** Implements explain: the index a command would use and, on request, the work it would do. */
import { decode, encode } from '../bson/encode.js';
import { documentValue, fieldsByName, fieldsOf, Type, textOf, type Value } from '../bson/value.js';
import { CommandError, notImplemented } from '../errors.js';
import { type Plan, planFor } from '../query/plan.js';
import { type Query, Scan } from '../query/scan.js';
import type { Collection } from '../storage/collection.js';
import { Arguments, argumentsOf } from './arguments.js';
import type { Engine } from './engine.js';
import { deadlineOf, FIND_ARGUMENTS, queryFrom } from './read.js';
import { checkNamespace, type Request } from './request.js';
import { createYielder, type Deadline } from './search.js';

/** Name of the filter and accepted arguments, by command. */
const EXPLAINABLE: Record<string, { readonly filter: string; readonly known: readonly string[] }> = {
  find: { filter: 'filter', known: FIND_ARGUMENTS },
  count: { filter: 'query', known: ['query', 'limit', 'skip', 'hint', 'fields', 'comment'] },
};

const VERBOSITIES = ['queryPlanner', 'executionStats', 'allPlansExecution'];

export async function explain(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['verbosity', 'comment']);
  args.required('explain');
  const inner = args.object('explain')!;
  const verbosity = args.text('verbosity') ?? 'allPlansExecution';
  if (!VERBOSITIES.includes(verbosity))
    throw new CommandError(
      9,
      `verbosity string must be one of {'queryPlanner', 'executionStats', 'allPlansExecution'}`,
    );
  const command = fieldsOf(inner)[0];
  if (!command || command.type !== Type.string) throw new CommandError(59, 'Explain failed due to unknown command');
  const namespace = checkNamespace(request.database, textOf(command));
  const query = explainedQuery(command.name, inner);
  const collection = engine.catalog.find(namespace);
  const plan = collection && planFor(collection, query.filter, query.sort, query.hint);
  const [skip = 0, limit = 0] = ['skip', 'limit'].map(
    (name) => new Arguments(name, fieldsByName(inner), [...fieldsByName(inner).keys()]).integer(name) ?? 0,
  );
  const queryPlanner = {
    plannerVersion: 1,
    namespace,
    indexFilterSet: false,
    winningPlan: plan ? stagesOf(plan, query, limit) : { stage: 'EOF' },
    rejectedPlans: [],
  };
  if (verbosity === 'queryPlanner') return encode({ queryPlanner });
  const examined =
    collection && plan
      ? await examine(engine, collection, plan, query, deadlineOf(args, request))
      : { matches: 0, keys: 0, documents: 0 };
  const remaining = Math.max(0, examined.matches - skip);
  const executionStats = {
    executionSuccess: true,
    nReturned: limit ? Math.min(remaining, limit) : remaining,
    totalKeysExamined: examined.keys,
    totalDocsExamined: examined.documents,
  };
  return encode({ queryPlanner, executionStats });
}

/** Runs a plan without a limit and counts what it reads. */
async function examine(engine: Engine, collection: Collection, plan: Plan, query: Query, deadline: Deadline) {
  const scan = new Scan(engine.documents, collection, plan);
  const yieldIfDue = createYielder(deadline);
  let [matches, documents] = [0, 0];
  while (!scan.done) {
    for (const { document } of scan.next(128)) {
      documents++;
      if (query.matches(documentValue(document))) matches++;
      const pause = yieldIfDue();
      if (pause) await pause;
    }
  }
  return { matches, documents, keys: plan.stage === 'COLLSCAN' ? 0 : scan.examined };
}

function explainedQuery(name: string, inner: Value): Query {
  const fields = fieldsByName(inner);
  const generic = ['$db', 'lsid', '$readPreference', 'readConcern', 'writeConcern', 'maxTimeMS'];
  const known = EXPLAINABLE[name];
  if (known) return queryFrom(new Arguments(name, fields, [name, ...known.known, ...generic]), known.filter);
  throw notImplemented(59, `explaining ${name}`);
}

function stagesOf(plan: Plan, query: Query, limit: number): object {
  const found = accessStage(plan);
  if (plan.stage === 'IDHACK' && plan.points.length === 1) return found;
  if (plan.sorted) return limit > 0 ? { stage: 'LIMIT', limitAmount: limit, inputStage: found } : found;
  const sortPattern = Object.fromEntries(query.sort.map(({ path, direction }) => [path.text, direction]));
  const limited = limit > 0 ? { limitAmount: limit } : {};
  return { stage: 'SORT', sortPattern, memLimit: 104_857_600, ...limited, type: 'simple', inputStage: found };
}

function accessStage(plan: Plan): object {
  if (plan.stage === 'IDHACK') return { stage: 'IDHACK' };
  const direction = plan.reverse ? 'backward' : 'forward';
  if (plan.stage === 'COLLSCAN') return { stage: 'COLLSCAN', direction };
  const { index } = plan;
  const inputStage = {
    stage: 'IXSCAN',
    keyPattern: index ? decode(index.key) : { _id: 1 },
    indexName: index?.name ?? '_id_',
    isMultiKey: index?.multikey.includes(true) ?? false,
    isUnique: index?.unique ?? true,
    isSparse: index?.sparse ?? false,
    isPartial: index?.partial !== undefined,
    indexVersion: 2,
    direction,
    indexBounds: boundsText(plan),
  };
  return { stage: 'FETCH', inputStage };
}

/** Bounds per field. Bounds are key bytes and printed as such. */
function boundsText(plan: Plan): object {
  const names = plan.index?.paths.map(({ text }) => text) ?? ['_id'];
  const ranges = plan.ranges
    .slice(0, 10)
    .map(({ low, high }) => `[${low.toString('hex', 5)}, ${high.toString('hex', 5)})`);
  return Object.fromEntries(names.map((name, i) => [name, i < plan.bounded ? ranges : ['[MinKey, MaxKey]']]));
}
