/** Implements findAndModify: changes one document and returns it as before or after. */
import { decode, encode, join, type Named, NULL, toValue } from '../bson/encode.js';
import { documentValue, fieldsOf } from '../bson/value.js';
import { CommandError } from '../errors.js';
import { type Projection, parseProjection, project } from '../query/projection.js';
import { matchesDocument } from '../query/scan.js';
import { Candidate, type Collection, documentKey, idOf } from '../storage/collection.js';
import { applyUpdate, parseUpdate } from '../update/update.js';
import { upsertedDocument } from '../update/upsert.js';
import { argumentsOf } from './arguments.js';
import { attemptOf } from './batch.js';
import type { Engine } from './engine.js';
import { findInSlices, findWithinBudget } from './lookup.js';
import { deadlineOf, queryFrom } from './read.js';
import { namespaceOf, type Request } from './request.js';
import { requireCollection } from './write.js';

const KNOWN = ['query', 'sort', 'remove', 'update', 'new', 'fields', 'upsert', 'hint', 'bypassDocumentValidation'];

/** Errors: 9 for contradictory arguments, and those of an update. */
export async function findAndModify(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, KNOWN);
  const namespace = namespaceOf(request);
  const [isRemove, upsert, returnNew] = [
    args.flag('remove', false),
    args.flag('upsert', false),
    args.flag('new', false),
  ];
  const updateArgument = args.get('update');
  if (isRemove && updateArgument) throw new CommandError(9, 'Cannot specify both an update and remove=true');
  if (isRemove && upsert) throw new CommandError(9, 'Cannot specify both upsert=true and remove=true');
  if (isRemove && returnNew)
    throw new CommandError(
      9,
      "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document",
    );
  if (!isRemove && !updateArgument) throw new CommandError(9, 'Either an update or remove=true must be specified');
  const query = queryFrom(args, 'query');
  const deadline = deadlineOf(args, request);
  const fields = args.object('fields');
  const projection = fields && parseProjection(fields);
  const update = updateArgument && parseUpdate(updateArgument);
  if (upsert) await engine.catalog.ensure(namespace);

  const change = (collection: Collection, { idKey, document }: Candidate): Buffer => {
    if (!update) {
      engine.documents.remove(collection, idKey, document);
      return answer({ n: 1 }, document, projection);
    }
    const after = applyUpdate(update, document);
    if (!after.equals(document)) engine.documents.replace(collection, idKey, document, after);
    return answer({ n: 1, updatedExisting: true }, returnNew ? after : document, projection);
  };
  const onNoMatch = (): Buffer => {
    if (!update || !upsert) return answer(update ? { n: 0, updatedExisting: false } : { n: 0 }, undefined, projection);
    const document = insertDocument(engine, namespace, upsertedDocument(query.filter, update));
    const id = decode(documentValue(join([['upserted', idOf(documentValue(document))]])));
    return answer({ n: 1, updatedExisting: false, ...id }, returnNew ? document : undefined, projection);
  };

  let idKey: Buffer | undefined;
  let result: Buffer | undefined;
  let slow = false;
  const attempt = attemptOf(engine, request);
  for (;;) {
    await engine.catalog.store.write(() => {
      attempt?.begin();
      result = attempt?.result(0);
      if (result) return true;
      const collection = engine.catalog.find(namespace);
      if (!slow) {
        const found = collection ? findWithinBudget(engine, collection, query, true) : [];
        slow = found === 'slow';
        if (found === 'slow') return true;
        result = collection && found[0] ? change(collection, found[0]) : onNoMatch();
      } else {
        const document = idKey && collection && engine.documents.get(collection, idKey);
        if (idKey && collection && document && matchesDocument(query, document))
          result = change(collection, new Candidate(documentKey(collection, idKey), document));
        else if (!idKey) result = onNoMatch();
      }
      if (result) {
        attempt?.add(0, result);
        attempt?.save();
      }
      return true;
    });
    if (result) break;
    const collection = engine.catalog.find(namespace);
    [idKey] = collection ? await findInSlices(engine, collection, query, true, deadline) : [];
  }
  const written = fieldsOf(documentValue(encode(engine.clock.written())));
  return join([...fieldsOf(documentValue(result)), ...written].map((field): Named => [field.name, field]));
}

function insertDocument(engine: Engine, namespace: string, document: Buffer): Buffer {
  engine.documents.insert(requireCollection(engine, namespace), document);
  return document;
}

function answer(lastErrorObject: object, document: Buffer | undefined, projection: Projection | undefined): Buffer {
  return join([
    ['lastErrorObject', toValue(lastErrorObject)],
    ['value', document ? documentValue(project(projection, document)) : NULL],
  ]);
}
