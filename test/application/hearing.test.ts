/** What is heard of a stream while several read it: told to each of them, until it has read. */
import { expect } from 'chai';
import { createHearing, type News } from '../../application/command/read-invalidation.js';

describe('what is heard of a stream while it is read', () => {
  const STREAM = 'toys.box-1';

  /** Somebody who reads it, until told that it is read. */
  function reader(hearing: ReturnType<typeof createHearing>, stream = STREAM) {
    let isRead = () => {};
    const until = new Promise<void>((resolve) => {
      isRead = resolve;
    });
    let told: News | undefined;
    const read = hearing.during(stream, (news) => {
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
    const hearing = createHearing();
    const [first, second, other] = [reader(hearing), reader(hearing), reader(hearing, 'toys.box-2')];
    hearing.show(STREAM, 5);
    await first.end();
    hearing.show(STREAM, 7);
    hearing.show(STREAM, 6);
    expect([first.newest(), second.newest(), other.newest()]).to.deep.equal([5, 7, -1]);
    hearing.forget(STREAM);
    expect([first.forgotten(), second.forgotten(), other.forgotten()]).to.deep.equal([false, true, false]);
    await second.end();
    await other.end();
  });

  it('is told to nobody who begins after it', async () => {
    const hearing = createHearing();
    const first = reader(hearing);
    hearing.show(STREAM, 5);
    hearing.forget(STREAM);
    const second = reader(hearing);
    expect([second.newest(), second.forgotten()]).to.deep.equal([-1, false]);
    await first.end();
    await second.end();
  });
});
