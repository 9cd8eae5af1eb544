/** A file with missing bytes answers 404 and is logged for the operator. */
import { expect } from 'chai';
import { sendDownload } from '../../adapters/http/server/download.js';
import { createBudget } from '../../application/concurrency/limiters.js';
import { NotStored, type StoredFile } from '../../application/ports/blob-store.js';
import { rejection } from '../../domain/shared/decider.js';

describe('download of a file with missing bytes', () => {
  const about = { contentType: 'text/plain', size: 3, sha256: 'x', originalName: 'x.txt', position: 1n };
  const failing = (error: Error): StoredFile => ({
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
    const notFound = rejection('toys/file-not-found', 'not-found', 'There is no such file');
    const options = { kind: 'inline', notFound, budget, callerKey: 'ada' } as const;
    const missing = new NotStored('there is no such file');
    expect(await sendDownload(request, failing(missing), options)).to.equal(notFound);
    expect(budget.used()).to.equal(0);
    expect(logged).to.have.length(1);
    const other = new Error('another');
    const outcome = await sendDownload(request, failing(other), options).catch((error) => error);
    expect(outcome).to.equal(other);
  });
});
