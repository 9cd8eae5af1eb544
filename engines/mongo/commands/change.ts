/** Statements that change matching documents: one or all, with a fallback if none matches. */
import { decode, join } from '../bson/encode.js';
import { documentValue, type Value } from '../bson/value.js';
import { matchesDocument, type Query } from '../query/scan.js';
import { Candidate, type Collection, documentKey } from '../storage/collection.js';
import type { Once, Statement } from './batch.js';
import type { Engine } from './engine.js';
import { findInSlices, findWithinBudget } from './lookup.js';
import type { Deadline } from './search.js';

/** Counts of one statement; `id` is the `_id` of an upserted document. */
export interface Tally {
  readonly n: number;
  readonly nModified: number;
  readonly id?: Value;
}

/** Encodes a tally: two counts, then a document with the upserted `_id` if there is one. */
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

/** Documents a statement applies to. The collection is looked up each time, because it may be dropped in between. */
export interface Target {
  readonly engine: Engine;
  readonly namespace: string;
  readonly query: Query;
  /** Limits a long search. */
  readonly deadline?: Deadline;
}

type Change<Result> = (collection: Collection, candidate: Candidate) => Result;

const NOTHING: Tally = { n: 0, nModified: 0 };

/** Changes the first match, or runs `onNoMatch` if there is none; the result is a tally. */
export const changeOne = (target: Target, change: Change<Tally>, onNoMatch: () => Tally = () => NOTHING): Statement =>
  changeFirst(
    target,
    (collection, candidate) => tally(change(collection, candidate)),
    () => tally(onNoMatch()),
  );

/** Same with results of any kind. */
export function changeFirst(
  { engine, namespace, query, deadline }: Target,
  change: Change<Buffer>,
  onNoMatch: () => Buffer,
): Statement {
  const runNow = (): Buffer | 'slow' => {
    const collection = engine.catalog.find(namespace);
    const found = collection ? findWithinBudget(engine, collection, query, true) : [];
    if (found === 'slow') return 'slow';
    return collection && found[0] ? change(collection, found[0]) : onNoMatch();
  };
  const runInSteps = async (once: Once): Promise<Buffer> => {
    for (;;) {
      const collection = engine.catalog.find(namespace);
      const [idKey] = collection ? await findInSlices(engine, collection, query, true, deadline) : [];
      let result: Buffer | undefined;
      await engine.catalog.store.write(() => {
        const current = engine.catalog.find(namespace);
        const document = idKey && current && engine.documents.get(current, idKey);
        if (document && matchesDocument(query, document))
          result = once(() => change(current, new Candidate(documentKey(current, idKey), document)));
        // A match that changed meanwhile is searched again. If nothing was found, nothing matches.
        else if (!idKey) result = once(onNoMatch);
        return true;
      });
      if (result) return result;
    }
  };
  return { runNow, runInSteps };
}

/** Documents changed per transaction. */
const PAGE = 200;

/** Changes all matches. */
export function changeAll({ engine, namespace, query, deadline }: Target, change: Change<Tally>): Statement {
  const sum = (collection: Collection, found: readonly Candidate[]): Tally => {
    let [n, nModified] = [0, 0];
    for (const candidate of found) {
      const one = change(collection, candidate);
      n += one.n;
      nModified += one.nModified;
    }
    return { n, nModified };
  };
  const runNow = (): Buffer | 'slow' => {
    const collection = engine.catalog.find(namespace);
    const found = collection ? findWithinBudget(engine, collection, query, false) : [];
    if (found === 'slow') return 'slow';
    return tally(collection ? sum(collection, found) : NOTHING);
  };
  const runInSteps = async (): Promise<Buffer> => {
    const collection = engine.catalog.find(namespace);
    const idKeys = collection ? await findInSlices(engine, collection, query, false, deadline) : [];
    let [n, nModified] = [0, 0];
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
    return tally({ n, nModified });
  };
  return { runNow, runInSteps };
}
