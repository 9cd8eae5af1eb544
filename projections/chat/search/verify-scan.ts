/**
 * Lists the index message by message, to compare builds. How messages are grouped into runs and packs is not compared:
 * it differs in a build made after a scavenge.
 */
import type { Collection } from 'mongodb';
import type { Position, Vault } from '../../../application/ports/index.js';
import { type Build, longOf, type Row } from '../../kernel/index.js';
import { lineOf } from './blocks.js';
import { type Line, Texts } from './packed-text.js';
import { idOf, openDocs, PACKS, type PackRow, RUNS, type RunRow, subjectOf } from './rows.js';

type Lines = ReadonlyMap<Position, Line>;
const NO_LINES: Lines = new Map();

/** By id, decrypted, as two builds seal differently. Omits deleted messages. */
export async function* scan({ vault, collection }: Build): AsyncGenerator<Row> {
  const linesUpTo = createPackReader(collection(PACKS), vault);
  for await (const run of collection<RunRow>(RUNS).find({}, { sort: { _id: 1 } })) {
    const { channel, open } = run;
    const lines = await linesUpTo(run._id);
    for (const doc of (await openDocs(vault, run)) ?? []) {
      const posted = BigInt(doc.posted);
      // As a search sees it: from the run itself until it is packed.
      const line = open ? lineOf(doc, 0) : lines.get(posted);
      const { author, text } = line ?? {};
      if (doc.gone && !author && !text) continue;
      yield { _id: idOf(channel, posted), _at: longOf(BigInt(doc.changed)), doc, found: { author, text } };
    }
  }
}

/** Returns the lines of the pack that contains a run, if any. Runs must be passed in ascending order. */
function createPackReader(rows: Collection<PackRow>, vault: Vault): (run: string) => Promise<Lines> {
  const packs = rows.find({}, { sort: { _id: 1 } })[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<PackRow, unknown>> | undefined;
  let lines = NO_LINES;
  return async (run) => {
    for (;;) {
      next ??= packs.next();
      const { done, value } = await next;
      if (done || value._id > run) return lines;
      next = undefined;
      const bytes = await vault.openBytes(subjectOf(value.channel), value.texts.buffer);
      const opened = bytes ? new Texts(bytes, value.authors).lines() : [];
      lines = new Map(opened.map((line) => [line.posted, line]));
    }
  };
}
