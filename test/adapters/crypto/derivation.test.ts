/** Ids of what commands make: the same for the same command, and in the order of time. */
import { expect } from 'chai';
import { createDerivation } from '../../../adapters/crypto/derivation.js';
import { newCommandId, timestampOf } from '../../../application/command/event-envelope.js';

describe('ids that are derived from commands', () => {
  const { id, idInTime } = createDerivation(Buffer.alloc(32, 7));
  const NOON = Date.UTC(2026, 10, 23, 12);
  const made = (at: number) => idInTime('chat.message', newCommandId(at));

  it('are the same for the same command, and others for another purpose, command or installation', () => {
    const command = newCommandId(NOON);
    expect(idInTime('chat.message', command)).to.equal(idInTime('chat.message', command));
    const others = [
      idInTime('chat.reply', command),
      made(NOON),
      createDerivation(Buffer.alloc(32, 8)).idInTime('chat.message', command),
    ];
    // What they share is the time alone.
    const [time, ...rest] = [idInTime('chat.message', command), ...others].map((each) => each.slice(0, 6));
    expect(rest).to.deep.equal([time, time, time]);
    const derived = [idInTime('chat.message', command), ...others].map((each) => each.slice(6));
    expect(new Set(derived).size).to.equal(4);
  });

  it('have 96 bits that nobody can guess, as the contract asks of all ids, whenever they were made', () => {
    const ids = Array.from({ length: 64 }, () => made(NOON));
    const differ = Array.from({ length: 22 }, (_, at) => new Set(ids.map((each) => each[at])).size > 1);
    expect(differ.filter(Boolean)).to.have.length(96 / 6);
  });

  it('sort as the times of their commands do, byte by byte', () => {
    const times = [0, 64, 4032, 4096, 262_080, 262_144, 1e9, 1e12, NOON, NOON + 64, NOON + 1000, 2 ** 42 - 1];
    const ids = times.map(made);
    const bytes = (text: string) => Buffer.from(text);
    expect([...ids].sort((a, b) => Buffer.compare(bytes(a), bytes(b)))).to.deep.equal(ids);
    for (const each of [...ids, made(2 ** 42 + 5)]) expect(each).to.match(/^[\w-]{22}$/);
  });

  it('are derived alone where a command has no time of its own: of a key, or of an event', () => {
    for (const command of ['qT0vXl1hS3yZ2rJ8mF5uKw', '3f2504e0-4f89-41d3-9a0c-0305e82c3301', ''])
      expect(idInTime('chat.message', command)).to.equal(id('chat.message', command));
  });

  it('come of commands that are called by a UUID of version 7', () => {
    const command = newCommandId(NOON);
    expect(command).to.match(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(timestampOf(command)).to.equal(NOON);
    expect(newCommandId(NOON)).not.to.equal(command);
    expect(timestampOf(newCommandId())).to.be.closeTo(Date.now(), 60_000);
  });
});
