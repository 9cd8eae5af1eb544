/** The queries behind alert rules, and the two representations of a record. */
import { expect } from 'chai';
import { createLogQueries } from '../../../../application/logs/query/query-service.js';
import { entryOf, entryText } from '../../../../application/logs/query/render-page.js';
import { createSearcher } from '../../../../application/logs/query/searcher.js';
import { parseRecord } from '../../../../domain/logs/record.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { upToDate } from '../../../support/memory-ports.js';
import { memoryIndex } from '../../../support/memory-record-index.js';

describe('log queries for alert rules and views', () => {
  const levels = ['ERROR', 'FATAL', 'WARN', 'INFO'];
  const of = (timestamp: number) => levels.map((level) => ({ timestamp, level, message: 'a' }));
  const records = [NOON - 1, NOON, NOON + 1].flatMap(of);
  const index = memoryIndex([{ producerId: 'api', audit: false, records }]);
  const searcher = createSearcher({ index, clock: { now: () => NOON }, budgetMs: 1000 });
  const queries = createLogQueries({ searcher, budgetMs: 1000, version: () => 0, ...upToDate });

  it('count errors and fatal errors between two instants, and find the last record', async () => {
    expect(await queries.errorsBetween(NOON, NOON)).to.equal(2);
    expect(await queries.errorsBetween(NOON - 1, NOON)).to.equal(4);
    expect(await queries.errorsBetween(NOON - 9, NOON + 9)).to.equal(6);
    expect(await queries.errorsBetween(NOON + 2, NOON + 9)).to.equal(0);
    expect(await queries.lastRecordAt()).to.equal(await index.lastReceived());
  });

  it('show a record alike as text and as an object', () => {
    const texts = ['{"n":1}', '{"message":"a","event":"e","requestId":"r1","level":"warn"}'];
    for (const text of texts) {
      const record = { ...parseRecord(text, 'api', NOON), id: 'x' };
      const rendered = entryText(record, text);
      expect(JSON.parse(rendered)).to.deep.equal(entryOf(record));
      expect(rendered).to.include(`"data":${text}}`);
    }
  });
});
