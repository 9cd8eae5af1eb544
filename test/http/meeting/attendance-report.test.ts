/** Many who ask who was in a meeting at once: they are read in turn, and of one network not more than there are places for. */
import { expect } from 'chai';
import { attendanceRoute } from '../../../adapters/http/meeting/attendance.js';
import { createBudget } from '../../../application/concurrency/fair-share-budget.js';
import { createAttendance } from '../../../application/meeting/attendance.js';
import { creatorHash } from '../../../application/meeting/tokens.js';
import type { DecryptEvent, EventLog } from '../../../application/ports/index.js';
import { initialState } from '../../../domain/meeting/state.js';

describe('who was in many meetings', () => {
  const token = 'the token';
  const hash = creatorHash(token);
  const state = { ...initialState, isOpen: true, meetingId: 'm', creatorHash: hash };
  const opening = { type: 'RoomOpened', revision: 0, data: { meetingId: 'm', openedAt: 1, secret: {} } };

  /** Each read of the log waits until it is let go. */
  function reading() {
    const held: (() => void)[] = [];
    const read = () =>
      new Promise((resolve) => {
        held.push(() => resolve([opening]));
      });
    const attendance = createAttendance({
      log: { read: read as unknown as EventLog['read'] },
      streams: { reload: async () => ({ state, revision: 0, position: 1n }) as never },
      decryptEvent: (async (_: unknown, event: unknown) => event) as unknown as DecryptEvent,
    });
    return { held, attendance };
  }
  const projectionProgress = () => new Promise((resolve) => setImmediate(resolve));

  it('is read a few pages at a time, by turns of those who ask', async () => {
    const { held, attendance } = reading();
    const done: string[] = [];
    const asked = ['eve', 'eve', 'eve', 'eve', 'ada'].map((whose) =>
      attendance('ABC234', token, whose).then(() => done.push(whose)),
    );
    await projectionProgress();
    expect(held, 'at once').to.have.length(2);
    let most = 0;
    for (let went = 0; went < asked.length; went++) {
      most = Math.max(most, held.length);
      held.shift()!();
      await projectionProgress();
    }
    await Promise.all(asked);
    expect(most).to.equal(2);
    expect(done.indexOf('ada')).to.be.below(4);
  });

  it('has a place for so many, which each gives back however it ends', async () => {
    const { held, attendance } = reading();
    const budget = createBudget('attendance', 3);
    const { handle } = attendanceRoute(attendance, budget);
    const gone = new AbortController();
    const ask = (address: string, bearer = token, signal = gone.signal) =>
      handle({ params: { roomId: 'ABC234' }, bearer, address, method: 'GET', signal } as never, undefined as never);
    const [mine, other] = [ask('10.0.0.1'), ask('10.0.0.1')];
    expect(await ask('10.0.0.1')).to.include({ problem: 429 });
    const third = ask('10.0.0.2');
    expect(await ask('10.0.0.3')).to.include({ problem: 503 });
    expect(budget.used()).to.equal(3);
    const letGo = async () => {
      for (let all = held.splice(0); all.length > 0; all = held.splice(0)) {
        for (const each of all) each();
        await projectionProgress();
      }
    };
    await letGo();
    const answers = (await Promise.all([mine, other, third])) as {
      bytes: { content(): AsyncIterable<Uint8Array> };
    }[];
    const read = async () => {
      let text = '';
      for await (const piece of answers[0]!.bytes.content()) text += String(piece);
      return text;
    };
    const reads = read();
    await letGo();
    expect(JSON.parse(await reads)).to.deep.equal({ roomId: 'ABC234', openedAt: 1, participants: [] });
    expect(budget.used(), 'one is read').to.equal(2);
    const begun = answers[1]!.bytes.content()[Symbol.asyncIterator]();
    const first = begun.next();
    await letGo();
    await first;
    await begun.return!();
    expect(budget.used(), 'the reader of one has gone').to.equal(1);
    gone.abort();
    expect(budget.used(), 'one was never read').to.equal(0);
    expect(await ask('10.0.0.1', 'guessed', new AbortController().signal)).to.include({
      kind: 'unauthenticated',
    });
    expect(budget.used()).to.equal(0);
  });
});
