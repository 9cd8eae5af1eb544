/** Ids derived from commands: deterministic, and ordered by time. */
import { expect } from 'chai';
import { createDerivation } from '../../../adapters/crypto/derivation.js';
import { newCommandId, timestampOf } from '../../../application/command/event-envelope.js';

describe('ids derived from commands', () => {
  const { id, idInTime } = createDerivation(Buffer.alloc(32, 7));
  const NOON = Date.UTC(2026, 10, 23, 12);
  const made = (at: number) => idInTime('chat.message', newCommandId(at));

  it('are equal for the same command and differ by purpose, command and installation', () => {
    const command = newCommandId(NOON);
    expect(idInTime('chat.message', command)).to.equal(idInTime('chat.message', command));
    const others = [
      idInTime('chat.reply', command),
      made(NOON),
      createDerivation(Buffer.alloc(32, 8)).idInTime('chat.message', command),
    ];
    // They share only the time.
    const [time, ...rest] = [idInTime('chat.message', command), ...others].map((each) => each.slice(0, 6));
    expect(rest).to.deep.equal([time, time, time]);
    const derived = [idInTime('chat.message', command), ...others].map((each) => each.slice(6));
    expect(new Set(derived).size).to.equal(4);
  });

  it('have 96 unpredictable bits, as the contract requires of all ids, at any time', () => {
    const ids = Array.from({ length: 64 }, () => made(NOON));
    const differ = Array.from({ length: 22 }, (_, at) => new Set(ids.map((each) => each[at])).size > 1);
    expect(differ.filter(Boolean)).to.have.length(96 / 6);
  });

  it('sort bytewise by the time of their commands', () => {
    const times = [0, 64, 4032, 4096, 262_080, 262_144, 1e9, 1e12, NOON, NOON + 64, NOON + 1000, 2 ** 42 - 1];
    const ids = times.map(made);
    const bytes = (text: string) => Buffer.from(text);
    expect([...ids].sort((a, b) => Buffer.compare(bytes(a), bytes(b)))).to.deep.equal(ids);
    for (const each of [...ids, made(2 ** 42 + 5)]) expect(each).to.match(/^[\w-]{22}$/);
  });

  it('have no time part when derived from a key or an event', () => {
    for (const command of ['qT0vXl1hS3yZ2rJ8mF5uKw', '3f2504e0-4f89-41d3-9a0c-0305e82c3301', ''])
      expect(idInTime('chat.message', command)).to.equal(id('chat.message', command));
  });

  it('use the time of a UUID version 7', () => {
    const command = newCommandId(NOON);
    expect(command).to.match(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(timestampOf(command)).to.equal(NOON);
    expect(newCommandId(NOON)).not.to.equal(command);
    expect(timestampOf(newCommandId())).to.be.closeTo(Date.now(), 60_000);
  });
});
