/** The relay: recipients, order, buffering, and how streams end. */
import { expect } from 'chai';
import { createRelay } from '../../../../adapters/realtime/relay/relay.js';
import { frame } from '../../../../adapters/realtime/relay/sink.js';
import type { Audience } from '../../../../application/subscription/audience.js';
import type { DomainEvent } from '../../../../domain/shared/decider.js';
import {
  at,
  connectAs,
  entered,
  head,
  left,
  record,
  relayWith,
  types,
  wardAudience,
  wrote,
} from '../../../support/toy-service.js';

/** Delivers everything in a room until it is burned. */
const ending: Audience<null, DomainEvent<'Note'> | DomainEvent<'Burned'>> = {
  initialState: null,
  on: {
    Note: { deliver: ({ type, data }) => [{ to: ['room'], message: { type, payload: data } }] },
    Burned: { deliver: ({ type, data }) => [{ to: ['room'], message: { type, payload: data }, ends: true }] },
  },
};

type About<Type extends string> = DomainEvent<Type, { about: string }>;

/** Notes about two subjects, and copies of them; one subject is erased. */
const erasing: Audience<null, About<'Note'> | About<'Copy'> | About<'Erased'>> = {
  initialState: null,
  on: {
    Copy: {
      deliver: ({ type, data }) => [
        { to: ['room'], resource: 'copies', shows: ['other', data.about], message: { type, payload: data } },
      ],
    },
    Note: {
      deliver: ({ type, data }) => [{ to: ['room'], resource: data.about, message: { type, payload: data } }],
    },
    Erased: {
      deliver: ({ type, data }) => [
        {
          to: ['room'],
          except: ['deaf'],
          resource: data.about,
          erases: data.about,
          message: { type, payload: data },
        },
      ],
    },
  },
};

describe('the relay', () => {
  it('keeps nothing of erased subjects, and does not reset clients that were not recipients', () => {
    const relay = createRelay({ audience: erasing, head });
    const [bob, deaf] = [record(), record()];
    relay.connect({ keys: ['room', 'deaf'] }, deaf);
    const events = [
      ['Note', 'one'],
      ['Note', 'two'],
      ['Copy', 'one'],
      ['Copy', 'two'],
      ['Erased', 'one'],
    ] as const;
    for (const [n, [type, about]] of events.entries()) {
      const recorded = at(n + 1, wrote(about));
      relay.publish({ ...recorded, type, data: { about } } as Parameters<typeof relay.publish>[0]);
    }
    relay.connect({ keys: ['room'], after: 0n }, bob);
    expect(bob.sent.map(({ message: { type, payload } }) => [type, payload])).to.deep.equal([
      ['Note', { about: 'two' }],
      ['Copy', { about: 'two' }],
      ['Erased', { about: 'one' }],
    ]);
    expect(types(deaf)).to.deep.equal(['Note', 'Note', 'Copy', 'Copy']);
    relay.close();
  });

  it('delivers to each stream by its keys, in log order', () => {
    const { relay, publish } = relayWith([entered('ann'), entered('bob')]);
    const [ann, bob, eve] = [record(), record(), record()];
    relay.connect(connectAs('ann'), ann);
    relay.connect(connectAs('bob'), bob);
    relay.connect(connectAs('eve'), eve);
    publish(wrote('1'), wrote('2'), left('bob'), wrote('3'));
    expect(types(ann)).to.deep.equal(['Wrote', 'Wrote', 'Left', 'Wrote']);
    expect(types(bob)).to.deep.equal(['Wrote', 'Wrote', 'Left']);
    expect(types(eve)).to.deep.equal([]);
    relay.close();
  });

  it('serialises a frame once for all clients', () => {
    const { relay, publish } = relayWith([entered('ann'), entered('bob')]);
    const [ann, bob] = [record(), record()];
    relay.connect(connectAs('ann'), ann);
    relay.connect(connectAs('bob'), bob);
    publish(wrote('hello'));
    expect(ann.frames[0]).to.equal(bob.frames[0]);
    relay.close();
  });

  it('delivers a message once to a stream with several matching keys', () => {
    const { relay, publish } = relayWith([entered('ann'), entered('bob')]);
    const both = record();
    relay.connect({ keys: ['person:ann', 'person:bob'] }, both);
    publish(wrote('hello'));
    expect(types(both)).to.deep.equal(['Wrote']);
    relay.close();
  });

  it('ignores a redelivered event', () => {
    const { relay } = relayWith([entered('ann')]);
    const ann = record();
    relay.connect(connectAs('ann'), ann);
    relay.publish(at(5, wrote('once')));
    relay.publish(at(5, wrote('once')));
    relay.publish(at(4, wrote('late')));
    expect(types(ann)).to.deep.equal(['Wrote']);
    relay.close();
  });

  it('puts the cursor on the last of several frames of one event', () => {
    const { relay, publish } = relayWith([]);
    const ann = record();
    relay.connect(connectAs('ann'), ann);
    publish(entered('ann'));
    expect(types(ann)).to.deep.equal(['Ward', 'Entered']);
    expect(ann.sent.map(({ position }) => position)).to.deep.equal([undefined, 1n]);
    const again = record();
    relay.connect({ ...connectAs('ann'), after: 0n }, again);
    expect(again.sent).to.deep.equal(ann.sent);
    relay.close();
  });

  it('buffers little for a client that does not read, without delaying others', () => {
    const relay = createRelay({ audience: wardAudience, head, ringSize: 20 });
    relay.publish(at(1, entered('ann')));
    relay.publish(at(2, entered('bob')));
    const [ann, bob] = [record(), record()];
    ann.reading = false;
    relay.connect(connectAs('ann'), ann);
    relay.connect(connectAs('bob'), bob);
    for (let index = 3; index < 100; index++) relay.publish(at(index, wrote('x'.repeat(10_000))));
    expect(bob.sent).to.have.length(97);
    expect(ann.unread).to.be.within(1, 128 * 1024);
    const unread = ann.sent.length;
    ann.read();
    expect(types(ann).slice(unread)).to.deep.equal(['RESET']);
    relay.publish(at(100, wrote('new')));
    expect(ann.cursor()).to.equal(100n);
    relay.close();
  });

  it('disconnects a client that does not read ephemeral messages', () => {
    const { relay } = relayWith([]);
    const [ann, bob] = [record(), record()];
    ann.reading = false;
    relay.connect(connectAs('ann'), ann);
    relay.connect(connectAs('bob'), bob);
    const keys = ['person:ann', 'person:bob'];
    for (let index = 0; index < 80; index++) relay.sendEphemeral(keys, frame({ type: 'x'.repeat(30_000) }));
    expect([ann.ended, bob.ended]).to.deep.equal(['cut', undefined]);
    expect(bob.sent).to.have.length(80);
    relay.close();
  });

  it("ends a stream that has lost its position with the stream's own message, where it has one", () => {
    const { relay, publish } = relayWith([entered('ann')], 2);
    const ann = record();
    let overrun = 0;
    ann.reading = false;
    relay.connect(connectAs('ann'), { ...ann, overrun: () => void overrun++ });
    for (const each of ['a', 'b', 'c', 'd', 'e']) publish(wrote(each.repeat(70_000)));
    ann.read();
    expect([overrun, types(ann)]).to.deep.equal([1, ['Wrote']]);
    relay.close();
  });

  it('disconnects a client that has read nothing for a while', async () => {
    let cuts = 0;
    const observe = { connected() {}, sent() {}, cut: () => void cuts++ };
    const relay = createRelay({ audience: wardAudience, head, observe, beatMs: 1 });
    relay.publish(at(1, entered('ann')));
    const [stuck, idle] = [record(), record()];
    stuck.reading = false;
    const over = new Promise<void>((resolve) => stuck.onClose(resolve));
    relay.connect(connectAs('ann'), stuck);
    relay.connect(connectAs('bob'), idle);
    for (let index = 2; index < 12; index++) relay.publish(at(index, wrote('x'.repeat(10_000))));
    await over;
    expect([stuck.ended, idle.ended, cuts]).to.deep.equal(['cut', undefined, 1]);
    relay.close();
  });

  it('delivers the end to a client with unread frames, and none of the frames before it', () => {
    const relay = createRelay({ audience: ending, head });
    const slow = record();
    slow.reading = false;
    relay.connect({ keys: ['room'] }, slow);
    const common = { ...at(0, wrote('')), data: { text: 'x'.repeat(30_000) } };
    for (let position = 1n; position <= 5n; position++) {
      relay.publish({ ...common, position, type: 'Note' });
    }
    relay.publish({ ...common, position: 6n, type: 'Burned', data: {} });
    slow.read();
    expect(types(slow)).to.deep.equal(['Note', 'Note', 'Note', 'Burned']);
    expect(slow.ended).to.equal('over');
    relay.close();
  });

  it('ends streams with their final message and forgets their frames', () => {
    const relay = createRelay({ audience: ending, head });
    const common = {
      stream: 'r',
      revision: 0,
      version: 1,
      recordedAt: 0,
      metadata: {},
      erased: false,
      data: {},
    };
    const client = record();
    relay.connect({ keys: ['room'] }, client);
    relay.publish({ ...common, id: 'a', position: 1n, type: 'Note' });
    relay.publish({ ...common, id: 'b', position: 2n, type: 'Burned' });
    relay.publish({ ...common, id: 'c', position: 3n, type: 'Note' });
    expect([types(client), client.ended]).to.deep.equal([['Note', 'Burned'], 'over']);
    const back = record();
    relay.connect({ keys: ['room'], after: 0n }, back);
    expect(types(back)).to.deep.equal(['Note']);
    expect(back.cursor()).to.equal(3n);
    relay.close();
  });

  it('delivers ephemeral messages to connected clients once, without a cursor', () => {
    const { relay } = relayWith([entered('ann')]);
    const [ann, bob] = [record(), record()];
    relay.connect({ keys: ['person:ann', 'ward:w'] }, ann);
    relay.connect(connectAs('bob'), bob);
    expect(relay.sendEphemeral(['person:ann', 'ward:w', 'person:eve'], frame({ type: 'TYPING' }))).to.equal(1);
    expect(ann.sent).to.deep.equal([{ message: { type: 'TYPING' } }]);
    expect(bob.sent).to.deep.equal([]);
    const late = record();
    relay.connect({ keys: ['person:ann'], after: 0n }, late);
    expect(types(late)).to.deep.equal(['Ward', 'Entered']);
    relay.close();
  });

  it('ends the streams of a key on request', () => {
    const { relay } = relayWith([]);
    const [one, other] = [record(), record()];
    relay.connect({ keys: ['session:1', 'user:a'] }, one);
    relay.connect({ keys: ['session:2', 'user:a'] }, other);
    relay.end('session:1', { type: 'LOGGED_OUT' });
    expect([types(one), one.ended, other.ended]).to.deep.equal([['LOGGED_OUT'], 'over', undefined]);
    relay.close();
  });

  it('tells all clients, and new ones, to reconnect when it closes', () => {
    const { relay } = relayWith([]);
    const [early, late] = [record(), record()];
    relay.connect(connectAs('ann'), early);
    relay.close();
    relay.connect(connectAs('ann'), late);
    expect([early.ended, late.ended]).to.deep.equal(['resume', 'resume']);
  });

  it('counts open streams', () => {
    const totals: number[] = [];
    const relay = createRelay({
      audience: wardAudience,
      head,
      observe: { connected: (total) => void totals.push(total), sent() {}, cut() {} },
    });
    const [ann, bob] = [record(), record()];
    relay.connect(connectAs('ann'), ann);
    relay.connect(connectAs('bob'), bob);
    ann.leave();
    bob.leave();
    expect(totals).to.deep.equal([1, 2, 1, 0]);
    relay.close();
  });
});
