/** Large ephemeral messages are sent in turn, with backpressure to their sender. */
import { expect } from 'chai';
import { createRelay } from '../../../../adapters/realtime/relay/relay.js';
import { frame } from '../../../../adapters/realtime/relay/sink.js';
import {
  at,
  connectAs,
  entered,
  head,
  record,
  relayWith,
  types,
  wardAudience,
  wrote,
} from '../../../support/toy-service.js';

describe('a relay of ephemeral messages', () => {
  it('sends large messages in turn when there is room, and never partially', async () => {
    const { relay } = relayWith([entered('ann')]);
    const ann = record();
    ann.reading = false;
    relay.connect(connectAs('ann'), ann);
    const large = (type: string) => frame({ type, payload: 'x'.repeat(40_000) });
    const names = ['a', 'b', 'c', 'd', 'e'];
    const settled: string[] = [];
    const passed = names.map(async (name) => {
      expect(await relay.sendWithBackpressure('person:ann', large(name))).to.equal(true);
      settled.push(name);
    });
    await new Promise(setImmediate);
    expect(types(ann)).to.deep.equal(['a', 'b']);
    expect(settled).to.deep.equal(['a', 'b']);
    relay.sendEphemeral(['person:ann'], frame({ type: 'urgent' }));
    ann.read();
    await new Promise(setImmediate);
    expect(types(ann)).to.deep.equal(['a', 'b', 'urgent', 'c', 'd']);
    ann.reading = true;
    ann.read();
    await Promise.all(passed);
    expect(types(ann)).to.deep.equal(['a', 'b', 'urgent', 'c', 'd', 'e']);
    relay.close();
  });

  it('sends nothing ahead of earlier events, however slowly these are read', async () => {
    const { relay } = relayWith([entered('ann'), entered('bob')]);
    const ann = record();
    ann.reading = false;
    relay.connect(connectAs('ann'), ann);
    relay.sendEphemeral(['person:ann'], frame({ type: 'large', payload: 'x'.repeat(70_000) }));
    relay.publish(at(3, entered('cleo')));
    relay.sendEphemeral(['person:ann'], frame({ type: 'offer of cleo' }));
    const passed = relay.sendWithBackpressure('person:ann', frame({ type: 'file of cleo' }));
    expect(types(ann)).to.deep.equal(['large']);
    ann.reading = true;
    ann.read();
    expect(await passed).to.equal(true);
    expect(types(ann)).to.deep.equal(['large', 'Entered', 'offer of cleo', 'file of cleo']);
    relay.close();
  });

  it('disconnects a client with far too much pending', async () => {
    const { relay } = relayWith([entered('ann')]);
    const ann = record();
    ann.reading = false;
    relay.connect(connectAs('ann'), ann);
    relay.publish(at(2, wrote('x'.repeat(70_000))));
    relay.publish(at(3, wrote('behind it')));
    for (let n = 0; n < 30; n++) relay.sendEphemeral(['person:ann'], frame({ type: 'x'.repeat(80_000) }));
    expect(ann.ended).to.equal('cut');
    relay.close();
  });

  it('releases senders to disconnected or disconnecting clients', async () => {
    const { relay } = relayWith([entered('ann')]);
    const ann = record();
    ann.reading = false;
    relay.connect(connectAs('ann'), ann);
    const large = frame({ type: 'x'.repeat(80_000) });
    expect(await relay.sendWithBackpressure('person:bob', large)).to.equal(false);
    expect(await relay.sendWithBackpressure('person:ann', large)).to.equal(true);
    const late = [relay.sendWithBackpressure('person:ann', large), relay.sendWithBackpressure('person:ann', large)];
    ann.leave();
    expect(await Promise.all(late)).to.deep.equal([false, false]);
    expect(ann.sent).to.have.length(1);
    relay.close();
  });

  it('disconnects a client that blocks senders and reads nothing for a while', async () => {
    const relay = createRelay({ audience: wardAudience, head, beatMs: 1 });
    const ann = record();
    ann.reading = false;
    relay.connect(connectAs('ann'), ann);
    await relay.sendWithBackpressure('person:ann', frame({ type: 'x'.repeat(80_000) }));
    expect(await relay.sendWithBackpressure('person:ann', frame({ type: 'more' }))).to.equal(false);
    expect(ann.ended).to.equal('cut');
    relay.close();
  });
});
