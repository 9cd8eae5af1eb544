/** Much that is said at once over many WebSockets keeps nobody else waiting for all of it. */
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import type { WebSocket } from 'ws';
import { hold } from '../../adapters/socket/conversation.js';
import type { Message } from '../../adapters/socket/vocabulary.js';
import { createBudget } from '../../application/budget.js';
import { eventually } from '../support/condition.js';
import { quiet } from '../support/engines.js';

/** As much of a WebSocket as is heard of it. */
class Line extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  isPaused = false;
  pause() {
    this.isPaused = true;
  }
  resume() {
    this.isPaused = false;
  }
}

describe('much that is said over many WebSockets at once', () => {
  it('is answered a part at a time, each in its order, and read no faster', async () => {
    const answered: string[] = [];
    const lines = Array.from({ length: 4 }, (_, who) => {
      const line = new Line();
      const options = {
        read: (text: string) => ({ message: { type: 'say', text: text.slice(0, 1) } }),
        place: createBudget('places', 100).hold(),
        bytes: createBudget('bytes', 2 ** 30).hold(),
        perSecond: 100,
        logger: quiet,
        after: () => () => {},
      };
      const said = ({ text }: Message) => void answered.push(`${who}${text}`);
      const begin = () => ({ said, misunderstood() {}, left() {} });
      hold(line as unknown as WebSocket, new PassThrough(), begin, options);
      return line;
    });
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
});
