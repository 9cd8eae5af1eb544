import { expect } from 'chai';
import type { Audience } from '../../adapters/relay/audience.js';
import { createRelay } from '../../adapters/relay/relay.js';
import type { DomainEvent } from '../../domain/shared/decider.js';
import { at, record, types, type WardEvent, wardAudience } from './ward.js';

const entered = (person: string, ward = 'w'): WardEvent => ({ type: 'Entered', data: { ward, person } });
const left = (person: string, ward = 'w'): WardEvent => ({ type: 'Left', data: { ward, person } });
const said = (text: string, ward = 'w'): WardEvent => ({ type: 'Said', data: { ward, text } });

/** A relay of wards with people in it; the events so far have positions 1, 2, ... */
function relayWith(events: readonly WardEvent[], ringSize?: number) {
  const relay = createRelay({ audience: wardAudience, ...(ringSize ? { ringSize } : {}) });
  let next = 1;
  const publish = (...more: readonly WardEvent[]) => {
    for (const event of more) relay.publish(at(next++, event));
  };
  publish(...events);
  return { relay, publish };
}

const connectAs = (person: string) => ({ keys: [`person:${person}`] });

describe('the relay', () => {
  it('gives each stream what is delivered to its keys, in log order', () => {
    const { relay, publish } = relayWith([entered('ann'), entered('bob')]);
    const [ann, bob, eve] = [record(), record(), record()];
    relay.connect(connectAs('ann'), ann);
    relay.connect(connectAs('bob'), bob);
    relay.connect(connectAs('eve'), eve);
    publish(said('1'), said('2'), left('bob'), said('3'));
    expect(types(ann)).to.deep.equal(['Said', 'Said', 'Left', 'Said']);
    expect(types(bob)).to.deep.equal(['Said', 'Said', 'Left']);
    expect(types(eve)).to.deep.equal([]);
    relay.close();
  });

  it('serialises a frame once for everyone', () => {
    const { relay, publish } = relayWith([entered('ann'), entered('bob')]);
    const [ann, bob] = [record(), record()];
    relay.connect(connectAs('ann'), ann);
    relay.connect(connectAs('bob'), bob);
    publish(said('hello'));
    expect(ann.frames[0]).to.equal(bob.frames[0]);
    relay.close();
  });

  it('gives a stream with several matching keys a message once', () => {
    const { relay, publish } = relayWith([entered('ann'), entered('bob')]);
    const both = record();
    relay.connect({ keys: ['person:ann', 'person:bob'] }, both);
    publish(said('hello'));
    expect(types(both)).to.deep.equal(['Said']);
    relay.close();
  });

  it('does nothing with an event that comes again', () => {
    const { relay } = relayWith([entered('ann')]);
    const ann = record();
    relay.connect(connectAs('ann'), ann);
    relay.publish(at(5, said('once')));
    relay.publish(at(5, said('once')));
    relay.publish(at(4, said('late')));
    expect(types(ann)).to.deep.equal(['Said']);
    relay.close();
  });

  it('greets, and lets a client that left at once resume from the greeting', () => {
    const { relay, publish } = relayWith([entered('ann')]);
    const first = record();
    relay.connect({ ...connectAs('ann'), greeting: { type: 'CONNECTED' } }, first);
    expect(first.sent).to.deep.equal([{ message: { type: 'CONNECTED' }, position: 1n }]);
    first.leave();
    publish(said('missed'));
    const second = record();
    relay.connect({ ...connectAs('ann'), after: first.cursor()!, greeting: { type: 'CONNECTED' } }, second);
    expect(types(second)).to.deep.equal(['CONNECTED', 'Said']);
    expect(second.sent[0]).not.to.have.property('position');
    relay.close();
  });

  it('puts the cursor only on the last of several messages of one event', () => {
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

  it('says RESET once when a client was away for longer than the ring remembers', () => {
    const { relay, publish } = relayWith([entered('ann')], 3);
    publish(said('1'), said('2'), said('3'), said('4'));
    const late = record();
    relay.connect({ ...connectAs('ann'), after: 1n }, late);
    expect(late.sent).to.deep.equal([{ message: { type: 'RESET' }, position: 5n }]);
    const inTime = record();
    relay.connect({ ...connectAs('ann'), after: 2n }, inTime);
    expect(types(inTime)).to.deep.equal(['Said', 'Said', 'Said']);
    relay.close();
  });

  it('says RESET to a cursor from before it began, or that nobody ever gave', () => {
    const relay = createRelay({ audience: wardAudience, from: 100n });
    relay.publish(at(101, entered('ann')));
    for (const after of [-1n, 0n, 99n]) {
      const client = record();
      relay.connect({ ...connectAs('ann'), after }, client);
      expect(types(client)).to.deep.equal(['RESET']);
    }
    const client = record();
    relay.connect({ ...connectAs('ann'), after: 100n }, client);
    expect(types(client)).to.deep.equal(['Ward', 'Entered']);
    relay.close();
  });

  it('says RESET instead of replaying more than a client can take at once', () => {
    const { relay, publish } = relayWith([entered('ann')]);
    publish(...Array.from({ length: 30 }, () => said('x'.repeat(10_000))));
    const client = record();
    relay.connect({ ...connectAs('ann'), after: 1n }, client);
    expect(types(client)).to.deep.equal(['RESET']);
    relay.close();
  });

  it('withholds what a client may no longer see from what it missed', () => {
    const { relay, publish } = relayWith([entered('ann')]);
    publish(said('before'), left('ann'));
    const client = record();
    relay.connect(
      {
        ...connectAs('ann'),
        after: 1n,
        entitled: ({ frame }, now) => frame.type !== 'Said' || !!now.w?.includes('ann'),
      },
      client,
    );
    expect(types(client)).to.deep.equal(['Left']);
    relay.close();
  });

  it('gives nothing twice to a client that has seen more elsewhere', () => {
    const { relay, publish } = relayWith([entered('ann')]);
    const ahead = record();
    relay.connect({ ...connectAs('ann'), after: 3n, greeting: { type: 'CONNECTED' } }, ahead);
    publish(said('seen'), said('seen too'), said('new'));
    expect(ahead.sent.map(({ position }) => position)).to.deep.equal([3n, 4n]);
    relay.close();
  });

  it('cuts a client that does not read, and nobody else', () => {
    let cuts = 0;
    const observe = { connected() {}, sent() {}, cut: () => void cuts++ };
    const relay = createRelay({ audience: wardAudience, observe });
    relay.publish(at(1, entered('ann')));
    relay.publish(at(2, entered('bob')));
    const [ann, bob] = [record(), record()];
    relay.connect(connectAs('ann'), ann);
    relay.connect(connectAs('bob'), bob);
    ann.unread = 1024 * 1024 + 1;
    relay.publish(at(3, said('1')));
    relay.publish(at(4, said('2')));
    expect([ann.ended, bob.ended, cuts]).to.deep.equal(['cut', undefined, 1]);
    expect(types(bob)).to.deep.equal(['Said', 'Said']);
    relay.close();
  });

  it('ends a stream when its authority ends by the clock, and not before', async () => {
    const { relay } = relayWith([]);
    const client = record();
    const over = new Promise<void>((resolve) => client.onClose(resolve));
    const until = Date.now() + 30;
    relay.connect({ ...connectAs('ann'), until: { at: until, message: { type: 'EXPIRED' } } }, client);
    expect(client.ended).to.equal(undefined);
    await over;
    expect(Date.now()).to.be.at.least(until);
    expect(client.sent.map(({ message }) => message)).to.deep.equal([{ type: 'EXPIRED' }]);
    expect(client.ended).to.equal('over');
    relay.close();
  });

  it('ends a stream whose authority has already ended', async () => {
    const { relay } = relayWith([]);
    const client = record();
    const over = new Promise<void>((resolve) => client.onClose(resolve));
    relay.connect({ ...connectAs('ann'), until: { at: Date.now() - 1000 } }, client);
    await over;
    expect(client.ended).to.equal('over');
    relay.close();
  });

  it('ends streams with the message that says so, and forgets what they were told', () => {
    const audience: Audience<null, DomainEvent<'Note' | 'Burned', object>> = {
      initialState: null,
      evolve: () => null,
      deliver: ({ type }) => [{ to: ['room'], frame: { type }, ends: type === 'Burned' }],
    };
    const relay = createRelay({ audience });
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

  it('tells what is in no log to whoever listens now, once and without a cursor', () => {
    const { relay } = relayWith([entered('ann')]);
    const [ann, bob] = [record(), record()];
    relay.connect({ keys: ['person:ann', 'ward:w'] }, ann);
    relay.connect(connectAs('bob'), bob);
    expect(relay.tell(['person:ann', 'ward:w', 'person:eve'], { type: 'TYPING' })).to.equal(1);
    expect(ann.sent).to.deep.equal([{ message: { type: 'TYPING' } }]);
    expect(bob.sent).to.deep.equal([]);
    const late = record();
    relay.connect({ keys: ['person:ann'], after: 0n }, late);
    expect(types(late)).to.deep.equal(['Ward', 'Entered']);
    relay.close();
  });

  it('ends the streams of a key when told to', () => {
    const { relay } = relayWith([]);
    const [one, other] = [record(), record()];
    relay.connect({ keys: ['session:1', 'user:a'] }, one);
    relay.connect({ keys: ['session:2', 'user:a'] }, other);
    relay.end('session:1', { type: 'LOGGED_OUT' });
    expect([types(one), one.ended, other.ended]).to.deep.equal([['LOGGED_OUT'], 'over', undefined]);
    relay.close();
  });

  it('tells everyone to come back when it closes, and whoever still comes', () => {
    const { relay } = relayWith([]);
    const [early, late] = [record(), record()];
    relay.connect(connectAs('ann'), early);
    relay.close();
    relay.connect(connectAs('ann'), late);
    expect([early.ended, late.ended]).to.deep.equal(['resume', 'resume']);
  });

  it('counts the streams that are open', () => {
    const totals: number[] = [];
    const relay = createRelay({
      audience: wardAudience,
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
