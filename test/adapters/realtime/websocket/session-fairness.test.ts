/** Much traffic over many WebSockets does not block others. */
import { PassThrough } from 'node:stream';
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { WebSocket } from 'ws';
import type { Message, MessageError } from '../../../../adapters/realtime/websocket/client-messages.js';
import { runSession } from '../../../../adapters/realtime/websocket/session.js';
import { createBudget } from '../../../../application/concurrency/limiters.js';
import { Line } from './fake-socket.js';

describe('traffic of many WebSockets', () => {
  function converse(count: number) {
    const answered: string[] = [];
    const lines = Array.from({ length: count }, (_, who) => {
      const line = new Line();
      const options = {
        read: (text: string) =>
          text ? { message: { type: 'say', text: text.slice(0, 1) } } : ({ why: 'unreadable' } as const),
        place: createBudget('places', 100).reserve(),
        bytes: createBudget('bytes', 2 ** 30).reserve(),
        perSecond: 100,
        logger: silentLogger,
        after: () => () => {},
      };
      const onMessage = ({ text }: Message) => void answered.push(`${who}${text}`);
      const misunderstood = ({ why }: MessageError) => void answered.push(`${who} ${why}`);
      const begin = () => ({ onMessage, misunderstood, onClose() {} });
      runSession(line as unknown as WebSocket, new PassThrough(), begin, options);
      return line;
    });
    return { answered, lines };
  }

  it('is answered in slices, in order per session, with backpressure', async () => {
    const { answered, lines } = converse(4);
    for (const line of lines)
      for (let n = 0; n < 8; n++) line.emit('message', Buffer.alloc(256 * 1024, String(n)), false);
    expect(answered.length).to.be.lessThan(8);
    expect(lines.map(({ isPaused }) => isPaused)).to.deep.equal(Array(4).fill(true));
    await eventually(() => answered.length === 32);
    for (let who = 0; who < 4; who++)
      expect(answered.filter((each) => each.startsWith(String(who)))).to.deep.equal(
        Array.from({ length: 8 }, (_, n) => `${who}${n}`),
      );
    expect(lines.map(({ isPaused }) => isPaused)).to.deep.equal(Array(4).fill(false));
    for (const line of lines) line.emit('close');
  });

  it('is charged by number of JSON values, and interleaved between sessions', async () => {
    const { answered, lines } = converse(3);
    // 1 MiB of cost each: two of them exceed a slice.
    const heavy = (text: string) => Buffer.from(text + ','.repeat(4000));
    for (const line of lines) for (const text of ['a', 'b', 'c']) line.emit('message', heavy(text), false);
    const rounds: string[] = [];
    while (answered.length < 9) {
      rounds.push(answered.join(' '));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(answered).to.deep.equal(['0a', '1a', '2a', '0b', '1b', '2b', '0c', '1c', '2c']);
    expect(new Set(rounds).size).to.be.greaterThan(7);
    for (const line of lines) line.emit('close');
  });

  it('is refused for a message with too many values', async () => {
    const { answered, lines } = converse(1);
    for (const sign of [',', '[', '{']) lines[0]!.emit('message', Buffer.from(sign.repeat(4097)), false);
    lines[0]!.emit('message', Buffer.from(`x${','.repeat(2000)}`), false);
    await eventually(() => answered.length === 4);
    expect(answered).to.deep.equal([...Array(3).fill('0 unreadable'), '0x']);
    lines[0]!.emit('close');
  });
});
