/** A file that the log knows, and whose bytes are lost: told to be gone, and said aloud to whoever runs the server. */
import { expect } from 'chai';
import { sendDownload } from '../../../adapters/http/chat/stream-download.js';
import type { Download } from '../../../application/chat/files/files.js';
import { createBudget } from '../../../application/concurrency/fair-share-budget.js';
import { NotStored } from '../../../application/ports/blob-store.js';

describe('a file whose bytes are lost', () => {
  const about = { contentType: 'text/plain', size: 3, sha256: 'x', originalName: 'x.txt', position: 1n };
  const failing = (error: Error): Download => ({
    ...about,
    // biome-ignore lint/correctness/useYield: it fails before the first byte.
    async *read() {
      throw error;
    },
  });

  it('is not found, gives back its place, and is logged', async () => {
    const logged: object[] = [];
    const logger = { error: (fields: object) => void logged.push(fields) } as never;
    const budget = createBudget('downloads', 12);
    const asked = { method: 'GET', headers: {}, logger, signal: new AbortController().signal };
    const lost = new NotStored('there is no such file');
    expect(await sendDownload(asked, 'inline', failing(lost), budget, 'ada')).to.include({ kind: 'not-found' });
    expect(budget.used()).to.equal(0);
    expect(logged).to.have.length(1);
    const other = new Error('another');
    const outcome = await sendDownload(asked, 'inline', failing(other), budget, 'ada').catch((error) => error);
    expect(outcome).to.equal(other);
  });
});
