/** Copies documents from one MongoDB to another, for `annals migrate`. */
import { BSON, type Db, type Document, type Filter } from 'mongodb';

/** Documents per query and write: tiles of the transparency log take up to 100 KB each. */
const BATCH_DOCUMENTS = 100;

/**
 * Copies the documents of a collection, whose ids are texts. Compares them afterwards. Returns their number; rejects if
 * the target has others.
 */
export async function copyDocuments(
  from: Db,
  to: Db,
  name: string,
  select: (document: Document) => Document | undefined = (document) => document,
): Promise<number> {
  let copied = 0;
  const target = to.collection(name);
  for await (const batch of batchesOf(from, name)) {
    const documents = batch.flatMap((each) => select(each) ?? []);
    if (documents.length === 0) continue;
    await target.bulkWrite(
      documents.map((replacement) => ({
        replaceOne: { filter: { _id: replacement._id }, replacement, upsert: true },
      })),
      { ordered: false },
    );
    copied += documents.length;
  }
  const [source, copies] = [batchesOf(from, name), batchesOf(to, name)].map(flatten) as [Documents, Documents];
  for await (const document of source) {
    const expected = select(document);
    if (!expected) continue;
    const { value } = await copies.next();
    if (!value || Buffer.compare(BSON.serialize(value), BSON.serialize(expected)) !== 0)
      throw new Error(`${to.databaseName}.${name} differs from the source at ${value?._id ?? 'its end'}`);
  }
  const { value: surplus } = await copies.next();
  if (surplus) throw new Error(`${to.databaseName}.${name} has a document that the source lacks: ${surplus._id}`);
  return copied;
}

type Documents = AsyncGenerator<Document, undefined>;

async function* flatten(batches: AsyncIterable<readonly Document[]>): Documents {
  for await (const batch of batches) yield* batch;
  return undefined;
}

async function* batchesOf(db: Db, name: string): AsyncGenerator<readonly Document[]> {
  for (let lastId = ''; ; ) {
    const later = { _id: { $gt: lastId } } as unknown as Filter<Document>;
    const batch = await db.collection(name).find(later).sort({ _id: 1 }).limit(BATCH_DOCUMENTS).toArray();
    yield batch;
    if (batch.length < BATCH_DOCUMENTS) return;
    lastId = String(batch.at(-1)!._id);
  }
}
