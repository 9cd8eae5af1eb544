/** Implements insert, update and delete. */
import { encode } from '../bson/encode.js';
import { bodyOf, documentValue, fieldsByName, type Value } from '../bson/value.js';
import { CommandError, notImplemented } from '../errors.js';
import { parseFilter } from '../query/filter.js';
import { type Query, queryOf } from '../query/scan.js';
import { type Candidate, type Collection, idOf } from '../storage/collection.js';
import { alwaysModifies, applyUpdate, parseUpdate, type Update } from '../update/update.js';
import { storableDocument, upsertedDocument } from '../update/upsert.js';
import { Arguments, argumentsOf, documentsOf } from './arguments.js';
import { runBatch, type Statement, writeErrors } from './batch.js';
import { changeAll, changeOne, readTally, type Tally, tally } from './change.js';
import type { Engine } from './engine.js';
import { deadlineOf } from './read.js';
import { checkSequences, namespaceOf, type Request } from './request.js';

const COMMON = ['ordered', 'bypassDocumentValidation'];

export async function insert(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['documents', ...COMMON]);
  checkSequences(request, 'documents');
  const namespace = namespaceOf(request);
  const documents = documentsOf(request, 'documents');
  await engine.catalog.ensure(namespace);
  const statements = documents.map((document): Statement => {
    const runNow = () => {
      engine.documents.insert(requireCollection(engine, namespace), storableDocument(bodyOf(document)));
      return tally({ n: 1, nModified: 0 });
    };
    return { runNow, runInSteps: async () => runNow() };
  });
  const deadline = deadlineOf(args, request);
  const { results, errors } = await runBatch(engine, request, args, statements, deadline);
  const n = results.reduce((sum, result) => sum + (result ? readTally(result).n : 0), 0);
  return encode({ n, ...engine.clock.written(), ...writeErrors(errors) });
}

/** Returns the collection that a write has ensured. Errors: 175 if it was dropped meanwhile. */
export function requireCollection(engine: Engine, namespace: string): Collection {
  const collection = engine.catalog.find(namespace);
  if (collection) return collection;
  throw new CommandError(175, `collection ${namespace} was dropped while it was written to`);
}

export async function update(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['updates', ...COMMON]);
  checkSequences(request, 'updates');
  const namespace = namespaceOf(request);
  const updates = documentsOf(request, 'updates').map((statement) => checkUpdate(statement, request));
  if (updates.some((statement) => statement.upsert && isValidUpdate(statement))) await engine.catalog.ensure(namespace);
  const deadline = deadlineOf(args, request);
  const statements = updates.map((statement) =>
    lazyStatement(() => {
      const { query, change } = parseUpdateStatement(statement);
      const target = { engine, namespace, query, deadline };
      const apply = (collection: Collection, candidate: Candidate) =>
        updateDocument(engine, collection, change, candidate);
      if (statement.multi) return changeAll(target, apply);
      const onNoMatch = statement.upsert ? () => upsertDocument(engine, namespace, query, change) : undefined;
      return changeOne(target, apply, onNoMatch);
    }),
  );
  const { results, errors } = await runBatch(engine, request, args, statements, deadline);
  let n = 0;
  let nModified = 0;
  const upserted: object[] = [];
  results.forEach((result, index) => {
    const statement = result && readTally(result);
    n += statement?.n ?? 0;
    nModified += statement?.nModified ?? 0;
    if (statement?.upserted) upserted.push({ index, ...statement.upserted });
  });
  const answer = { n, nModified, ...(upserted.length ? { upserted } : {}), ...engine.clock.written() };
  return encode({ ...answer, ...writeErrors(errors) });
}

/**
 * Parses a statement only when it runs and does not retain it: the parsed statements of a long batch would need much
 * memory.
 */
const lazyStatement = (read: () => Statement): Statement => ({
  runNow: () => read().runNow(),
  runInSteps: async (once) => read().runInSteps(once),
});

interface UpdateStatement {
  readonly q: Value;
  readonly u: Value;
  readonly multi: boolean;
  readonly upsert: boolean;
}

/** Errors of the whole command. */
function checkUpdate(statement: Value, request: Request): UpdateStatement {
  const args = new Arguments('update.updates', fieldsByName(statement), ['q', 'u', 'multi', 'upsert']);
  const [q, u] = [args.required('q'), args.required('u')];
  const [multi, upsert] = [args.flag('multi', false), args.flag('upsert', false)];
  args.object('q');
  requireSingle(request, multi);
  if (multi && upsert) throw notImplemented(9, 'upserts of multi updates');
  return { q, u, multi, upsert };
}

/** Errors of the single statement. */
function parseUpdateStatement({ q, u, multi }: UpdateStatement): { query: Query; change: Update } {
  const change = parseUpdate(u);
  if (multi && change.kind === 'replacement')
    throw new CommandError(9, 'multi update is not supported for replacement-style update');
  return { query: queryOf(parseFilter(q)), change };
}

function isValidUpdate(statement: UpdateStatement): boolean {
  try {
    parseUpdateStatement(statement);
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

function requireSingle(request: Request, multi: boolean): void {
  if (multi && request.txnNumber !== undefined)
    throw new CommandError(72, 'Cannot use (or request) retryable writes with multi=true');
}

/** Updates one document and counts whether it changed. */
function updateDocument(engine: Engine, collection: Collection, change: Update, { idKey, document }: Candidate): Tally {
  const after = applyUpdate(change, document);
  const changed = !after.equals(document);
  if (changed) engine.documents.replace(collection, idKey, document, after);
  return { n: 1, nModified: changed || alwaysModifies(change) ? 1 : 0 };
}

function upsertDocument(engine: Engine, namespace: string, query: Query, change: Update): Tally {
  const document = upsertedDocument(query.filter, change);
  engine.documents.insert(requireCollection(engine, namespace), document);
  return { n: 1, nModified: 0, id: idOf(documentValue(document)) };
}

export async function remove(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['deletes', ...COMMON]);
  checkSequences(request, 'deletes');
  const namespace = namespaceOf(request);
  const deadline = deadlineOf(args, request);
  const removeDocument = (collection: Collection, { idKey, document }: Candidate): Tally => {
    engine.documents.remove(collection, idKey, document);
    return { n: 1, nModified: 0 };
  };
  const statements = documentsOf(request, 'deletes').map((statement): Statement => {
    const args = new Arguments('delete.deletes', fieldsByName(statement), ['q', 'limit']);
    const q = args.required('q');
    args.object('q');
    args.required('limit');
    const limit = args.integer('limit', Number.MIN_SAFE_INTEGER);
    if (limit !== 0 && limit !== 1)
      throw new CommandError(9, `The limit field in delete objects must be 0 or 1. Got ${limit}`);
    requireSingle(request, limit === 0);
    return lazyStatement(() => {
      const query = queryOf(parseFilter(q));
      return (limit === 0 ? changeAll : changeOne)({ engine, namespace, query, deadline }, removeDocument);
    });
  });
  const { results, errors } = await runBatch(engine, request, args, statements, deadline);
  const n = results.reduce((sum, result) => sum + (result ? readTally(result).n : 0), 0);
  return encode({ n, ...engine.clock.written(), ...writeErrors(errors) });
}
