/** A file with missing bytes answers 404 and is logged for the operator. */
import { expect } from 'chai';
import { sendDownload } from '../../../adapters/http/chat/stream-download.js';
import type { Download } from '../../../application/chat/files/files.js';
import { createBudget } from '../../../application/concurrency/limiters.js';
import { NotStored } from '../../../application/ports/blob-store.js';

describe('download of a file with missing bytes', () => {
  const about = { contentType: 'text/plain', size: 3, sha256: 'x', originalName: 'x.txt', position: 1n };
  const failing = (error: Error): Download => ({
    ...about,
    // biome-ignore lint/correctness/useYield: it fails before the first byte.
    async *read() {
      throw error;
    },
  });

  it('answers not-found, releases its budget, and logs an error', async () => {
    const logged: object[] = [];
    const logger = { error: (fields: object) => void logged.push(fields) } as never;
    const budget = createBudget('downloads', 12);
    const request = { method: 'GET', headers: {}, logger, signal: new AbortController().signal };
    const missing = new NotStored('there is no such file');
    expect(await sendDownload(request, 'inline', failing(missing), budget, 'ada')).to.include({ kind: 'not-found' });
    expect(budget.used()).to.equal(0);
    expect(logged).to.have.length(1);
    const other = new Error('another');
    const outcome = await sendDownload(request, 'inline', failing(other), budget, 'ada').catch((error) => error);
    expect(outcome).to.equal(other);
  });
});
