/** Implements findAndModify: updates one document and returns it as before or after. */
import { decode, encode, join, type Named, NULL, toValue } from '../bson/encode.js';
import { documentValue, fieldsOf } from '../bson/value.js';
import { notImplemented } from '../errors.js';
import type { Candidate, Collection } from '../storage/collection.js';
import { idOf } from '../storage/collection.js';
import { applyUpdate, parseUpdate } from '../update/update.js';
import { upsertedDocument } from '../update/upsert.js';
import { argumentsOf } from './arguments.js';
import { runBatch } from './batch.js';
import { changeFirst } from './change.js';
import type { Engine } from './engine.js';
import { deadlineOf, queryFrom } from './read.js';
import { namespaceOf, type Request } from './request.js';
import { requireCollection } from './write.js';

/** Errors: those of an update. */
export async function findAndModify(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['query', 'remove', 'update', 'new', 'upsert']);
  const namespace = namespaceOf(request);
  const [upsert, returnNew] = [args.flag('upsert', false), args.flag('new', false)];
  if (args.flag('remove', false)) throw notImplemented(9, 'findAndModify with remove=true');
  const query = queryFrom(args, 'query');
  const deadline = deadlineOf(args, request);
  const update = parseUpdate(args.required('update'));
  if (upsert) await engine.catalog.ensure(namespace);

  const change = (collection: Collection, { idKey, document }: Candidate): Buffer => {
    const after = applyUpdate(update, document);
    if (!after.equals(document)) engine.documents.replace(collection, idKey, document, after);
    return answer({ n: 1, updatedExisting: true }, returnNew ? after : document);
  };
  const onNoMatch = (): Buffer => {
    if (!upsert) return answer({ n: 0, updatedExisting: false });
    const document = upsertedDocument(query.filter, update);
    engine.documents.insert(requireCollection(engine, namespace), document);
    const id = decode(documentValue(join([['upserted', idOf(documentValue(document))]])));
    return answer({ n: 1, updatedExisting: false, ...id }, returnNew ? document : undefined);
  };

  const statement = changeFirst({ engine, namespace, query, deadline }, change, onNoMatch);
  const { results, errors } = await runBatch(engine, request, args, [statement], deadline);
  if (errors[0]) throw errors[0].error;
  const written = fieldsOf(documentValue(encode(engine.clock.written())));
  return join([...fieldsOf(documentValue(results[0]!)), ...written].map((field): Named => [field.name, field]));
}

const answer = (lastErrorObject: object, document?: Buffer): Buffer =>
  join([
    ['lastErrorObject', toValue(lastErrorObject)],
    ['value', document ? documentValue(document) : NULL],
  ]);
