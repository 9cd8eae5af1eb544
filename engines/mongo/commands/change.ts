/** Statements that change what they find: one document or all, and what to do when there is none. */
import { decode, join } from '../bson/encode.js';
import { documentValue, type Value } from '../bson/value.js';
import { matchesDocument, type Query } from '../query/scan.js';
import { Candidate, type Collection, documentKey } from '../storage/collection.js';
import type { Once, Statement } from './batch.js';
import type { Engine } from './engine.js';
import { findNow, findSlowly } from './lookup.js';
import type { Deadline } from './search.js';

/** What one statement did; `id` is that of an upserted document. */
export interface Tally {
  readonly n: number;
  readonly nModified: number;
  readonly id?: Value;
}

/** A tally as bytes: two counts, then a document with the upserted `_id` if there is one. */
export function tally({ n, nModified, id }: Tally): Buffer {
  const counts = Buffer.allocUnsafe(8);
  counts.writeUInt32LE(n, 0);
  counts.writeUInt32LE(nModified, 4);
  return id ? Buffer.concat([counts, join([['_id', id]])]) : counts;
}

export function readTally(bytes: Buffer): { n: number; nModified: number; upserted: object | undefined } {
  const upserted = bytes.length > 8 ? decode(documentValue(bytes.subarray(8))) : undefined;
  return { n: bytes.readUInt32LE(0), nModified: bytes.readUInt32LE(4), upserted };
}

/** Where a statement looks. The collection is asked for each time, since it may be dropped in between. */
export interface Target {
  readonly engine: Engine;
  readonly namespace: string;
  readonly query: Query;
  /** When to give up a search that takes long. */
  readonly deadline?: Deadline;
}

type Change = (collection: Collection, candidate: Candidate) => Tally;
type Instead = (() => Tally) | undefined;

const NOTHING: Tally = { n: 0, nModified: 0 };

/** Changes the first match. */
export function changeOne(
  { engine, namespace, query, deadline }: Target,
  change: Change,
  instead: Instead = undefined,
): Statement {
  const now = (): Buffer | 'slow' => {
    const there = engine.catalog.find(namespace);
    const found = there ? findNow(engine, there, query, true) : [];
    if (found === 'slow') return 'slow';
    return tally(there && found[0] ? change(there, found[0]) : (instead?.() ?? NOTHING));
  };
  const slowly = async (once: Once): Promise<Buffer> => {
    for (;;) {
      const there = engine.catalog.find(namespace);
      const [idKey] = there ? await findSlowly(engine, there, query, true, deadline) : [];
      let result: Buffer | undefined;
      await engine.catalog.store.write(() => {
        const current = engine.catalog.find(namespace);
        const document = idKey && current && engine.documents.get(current, idKey);
        if (document && matchesDocument(query, document))
          result = once(() => tally(change(current, new Candidate(documentKey(current, idKey), document))));
        // What was found has changed meanwhile: look again. What was not found is taken as not there.
        else if (!idKey) result = once(() => tally(instead?.() ?? NOTHING));
        return true;
      });
      if (result) return result;
    }
  };
  return { now, slowly };
}

/** So many documents are changed in one transaction. */
const PAGE = 200;

/** Changes all matches. */
export function changeAll(
  { engine, namespace, query, deadline }: Target,
  change: Change,
  instead: Instead = undefined,
): Statement {
  const sum = (there: Collection, found: readonly Candidate[]): Tally => {
    let [n, nModified] = [0, 0];
    for (const candidate of found) {
      const one = change(there, candidate);
      n += one.n;
      nModified += one.nModified;
    }
    return { n, nModified };
  };
  const now = (): Buffer | 'slow' => {
    const there = engine.catalog.find(namespace);
    const found = there ? findNow(engine, there, query, false) : [];
    if (found === 'slow') return 'slow';
    if (found.length === 0 || !there) return tally(instead?.() ?? NOTHING);
    return tally(sum(there, found));
  };
  const slowly = async (): Promise<Buffer> => {
    const there = engine.catalog.find(namespace);
    const idKeys = there ? await findSlowly(engine, there, query, false, deadline) : [];
    let [n, nModified] = [0, 0];
    let upserted: Tally | undefined;
    if (idKeys.length === 0 && instead)
      await engine.catalog.store.write(() => {
        upserted = instead();
        return true;
      });
    for (let at = 0; at < idKeys.length; at += PAGE) {
      deadline?.check();
      await engine.catalog.store.write(() => {
        const current = engine.catalog.find(namespace);
        if (!current) return true;
        const found: Candidate[] = [];
        for (const idKey of idKeys.slice(at, at + PAGE)) {
          const document = engine.documents.get(current, idKey);
          if (document && matchesDocument(query, document))
            found.push(new Candidate(documentKey(current, idKey), document));
        }
        const part = sum(current, found);
        n += part.n;
        nModified += part.nModified;
        return true;
      });
    }
    return tally(upserted ?? { n, nModified });
  };
  return { now, slowly };
}
