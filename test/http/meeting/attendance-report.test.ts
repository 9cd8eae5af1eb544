/** Concurrent attendance reports: reads are limited and fair, and each network has a share of the budget. */
import { expect } from 'chai';
import { attendanceRoute } from '../../../adapters/http/meeting/attendance.js';
import { createBudget } from '../../../application/concurrency/limiters.js';
import { createAttendance } from '../../../application/meeting/attendance.js';
import { creatorHash } from '../../../application/meeting/tokens.js';
import type { DecryptEvent, EventLog } from '../../../application/ports/index.js';
import { initialState } from '../../../domain/meeting/state.js';

describe('attendance reports', () => {
  const token = 'the token';
  const hash = creatorHash(token);
  const state = { ...initialState, isOpen: true, meetingId: 'm', creatorHash: hash };
  const opening = { type: 'RoomOpened', revision: 0, data: { meetingId: 'm', openedAt: 1, secret: {} } };

  /** Each read of the log waits until it is released. */
  function createBlockingAttendance() {
    const pendingReads: (() => void)[] = [];
    const read = () =>
      new Promise((resolve) => {
        pendingReads.push(() => resolve([opening]));
      });
    const attendance = createAttendance({
      log: { read: read as unknown as EventLog['read'] },
      aggregates: { reload: async () => ({ state, revision: 0, position: 1n }) as never },
      decryptEvent: (async (_: unknown, event: unknown) => event) as unknown as DecryptEvent,
    });
    return { pendingReads, attendance };
  }
  const projectionProgress = () => new Promise((resolve) => setImmediate(resolve));

  it('are read two at a time, alternating between callers', async () => {
    const { pendingReads, attendance } = createBlockingAttendance();
    const done: string[] = [];
    const reports = ['eve', 'eve', 'eve', 'eve', 'ada'].map((caller) =>
      attendance('ABC234', token, caller).then(() => done.push(caller)),
    );
    await projectionProgress();
    expect(pendingReads, 'concurrent reads').to.have.length(2);
    let most = 0;
    for (let n = 0; n < reports.length; n++) {
      most = Math.max(most, pendingReads.length);
      pendingReads.shift()!();
      await projectionProgress();
    }
    await Promise.all(reports);
    expect(most).to.equal(2);
    expect(done.indexOf('ada')).to.be.below(4);
  });

  it('release their budget however they end', async () => {
    const { pendingReads, attendance } = createBlockingAttendance();
    const budget = createBudget('attendance', 3);
    const { handle } = attendanceRoute(attendance, budget);
    const client = new AbortController();
    const ask = (address: string, bearer = token, signal = client.signal) =>
      handle({ params: { roomId: 'ABC234' }, bearer, address, method: 'GET', signal } as never, undefined as never);
    const [second, other] = [ask('10.0.0.1'), ask('10.0.0.1')];
    expect(await ask('10.0.0.1')).to.include({ problem: 429 });
    const third = ask('10.0.0.2');
    expect(await ask('10.0.0.3')).to.include({ problem: 503 });
    expect(budget.used()).to.equal(3);
    const releaseAll = async () => {
      for (let all = pendingReads.splice(0); all.length > 0; all = pendingReads.splice(0)) {
        for (const each of all) each();
        await projectionProgress();
      }
    };
    await releaseAll();
    const answers = (await Promise.all([second, other, third])) as {
      bytes: { content(): AsyncIterable<Uint8Array> };
    }[];
    const read = async () => {
      let text = '';
      for await (const piece of answers[0]!.bytes.content()) text += String(piece);
      return text;
    };
    const reads = read();
    await releaseAll();
    expect(JSON.parse(await reads)).to.deep.equal({ roomId: 'ABC234', openedAt: 1, participants: [] });
    expect(budget.used(), 'one was read').to.equal(2);
    const iterator = answers[1]!.bytes.content()[Symbol.asyncIterator]();
    const first = iterator.next();
    await releaseAll();
    await first;
    await iterator.return!();
    expect(budget.used(), 'one was abandoned by its reader').to.equal(1);
    client.abort();
    expect(budget.used(), 'the last was cancelled unread').to.equal(0);
    expect(await ask('10.0.0.1', 'guessed', new AbortController().signal)).to.include({
      kind: 'unauthenticated',
    });
    expect(budget.used()).to.equal(0);
  });
});
