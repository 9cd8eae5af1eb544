/** Frames about erased subjects are dropped from the resume buffer, and affected clients get a RESET. */
import { expect } from 'chai';
import { connectAs, entered, record, relayWith, types, wrote } from '../../../support/toy-service.js';

describe('a relay that erases sent frames', () => {
  it('lets clients resume that have received everything', () => {
    const { relay, publish } = relayWith([entered('ann')]);
    const ann = record();
    relay.connect(connectAs('ann'), ann);
    publish(wrote('1'));
    relay.clear();
    expect(relay.bufferedBytes()).to.equal(0);
    publish(wrote('2'));
    expect(types(ann)).to.deep.equal(['Wrote', 'Wrote']);
    relay.close();
  });

  it('tells resuming clients to reset, and sends them later frames', () => {
    const { relay, publish } = relayWith([entered('ann'), wrote('1'), wrote('2')]);
    relay.clear();
    publish(wrote('3'));
    const [before, after] = [record(), record()];
    relay.connect({ ...connectAs('ann'), after: 2n }, before);
    relay.connect({ ...connectAs('ann'), after: 3n }, after);
    expect(types(before)).to.deep.equal(['RESET']);
    expect(types(after)).to.deep.equal(['Wrote']);
    relay.close();
  });

  it('tells slow clients whose pending frames were erased, even if nothing follows', () => {
    const { relay, publish } = relayWith([entered('ann')]);
    const ann = record();
    ann.reading = false;
    relay.connect(connectAs('ann'), ann);
    for (let n = 0; n < 20; n++) publish(wrote('x'.repeat(10_000)));
    const unread = ann.sent.length;
    expect(unread).to.be.below(20);
    relay.clear();
    ann.read();
    expect(types(ann).slice(unread)).to.deep.equal(['RESET']);
    relay.close();
  });
});
