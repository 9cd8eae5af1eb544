/** The index of all log records: blocks by day, counts by hour, how far files were read, what was answered. */
import type { Apply, Build, OwnProjection, Row } from '../projection.js';
import { wholeText } from './block.js';
import { expire } from './expiry.js';
import { startIndexing } from './indexing.js';
import { HOURS, REQUESTS, readPart } from './parts.js';
import { forgetRequests } from './requests.js';
import { type BlockRow, HOUR_INDEXES, REQUEST_INDEXES } from './rows.js';

export const records: OwnProjection = { name: 'logs.records', version: 1, atOnce: 128, open, scan };

async function open(build: Build): Promise<Apply> {
  await build.collection(HOURS).createIndexes(HOUR_INDEXES);
  await build.collection(REQUESTS).createIndexes(REQUEST_INDEXES);
  let indexing = startIndexing(build);
  return async (events) => {
    try {
      for (const event of events) {
        if (event.type === 'RecordsIngested') await indexing.take(event);
        else if (event.type === 'RecordsExpired') {
          await indexing.flush();
          await expire(build, event);
          indexing = startIndexing(build);
        } else if (event.type === 'BatchesErased') {
          await indexing.flush();
          await forgetRequests(build, event);
        }
      }
      await indexing.flush();
    } catch (error) {
      // What is remembered may be ahead of the rows: begin again from them.
      indexing = startIndexing(build);
      throw error;
    }
  };
}

/** Blocks with their texts opened and whole: two builds seal the same differently, and in other pieces. */
async function* scan(build: Build): AsyncGenerator<Row> {
  for (const part of [...(await build.parts())].sort()) {
    // Requests are forgotten by the clock, not by the log.
    if (part === REQUESTS) continue;
    for await (const row of build.collection<Row>(part).find().sort({ _id: 1 })) {
      const _id = `${part}/${row._id}`;
      if (!readPart(part)) yield { ...row, _id };
      else {
        const { subject, producerId, records: sealed } = row as unknown as BlockRow;
        const texts = await Promise.all(sealed.map((each) => build.vault.openText(subject, each)));
        const readable = texts.filter((text) => text !== undefined);
        yield { ...row, _id, records: wholeText(readable, producerId) };
      }
    }
  }
}
