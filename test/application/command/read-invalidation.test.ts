/** What is heard of a stream while several read it: told to each of them, until it has read. */
import { expect } from 'chai';
import { createReadInvalidation, type Invalidation } from '../../../application/command/read-invalidation.js';

describe('what is heard of a stream while it is read', () => {
  const STREAM = 'toys.box-1';

  /** Somebody who reads it, until told that it is read. */
  function reader(hearing: ReturnType<typeof createReadInvalidation>, stream = STREAM) {
    let isRead = () => {};
    const until = new Promise<void>((resolve) => {
      isRead = resolve;
    });
    let told: Invalidation | undefined;
    const read = hearing.whileReading(stream, (news) => {
      told = news;
      return until;
    });
    return {
      newest: () => told?.newest,
      forgotten: () => told?.forgotten,
      async end() {
        isRead();
        await read;
      },
    };
  }

  it('is told to all who read it, and to those who still do when another has read', async () => {
    const hearing = createReadInvalidation();
    const [first, second, other] = [reader(hearing), reader(hearing), reader(hearing, 'toys.box-2')];
    hearing.noteRevision(STREAM, 5);
    await first.end();
    hearing.noteRevision(STREAM, 7);
    hearing.noteRevision(STREAM, 6);
    expect([first.newest(), second.newest(), other.newest()]).to.deep.equal([5, 7, -1]);
    hearing.forget(STREAM);
    expect([first.forgotten(), second.forgotten(), other.forgotten()]).to.deep.equal([false, true, false]);
    await second.end();
    await other.end();
  });

  it('is told to nobody who begins after it', async () => {
    const hearing = createReadInvalidation();
    const first = reader(hearing);
    hearing.noteRevision(STREAM, 5);
    hearing.forget(STREAM);
    const second = reader(hearing);
    expect([second.newest(), second.forgotten()]).to.deep.equal([-1, false]);
    await first.end();
    await second.end();
  });
});
