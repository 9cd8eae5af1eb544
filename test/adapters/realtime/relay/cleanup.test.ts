/** What was told of somebody who is erased: nobody is told it again, and nobody misses that they were to be. */
import { expect } from 'chai';
import { connectAs, entered, record, relayWith, said, types } from '../../../support/toy-audience.js';

describe('a relay that forgets what it told', () => {
  it('lets those go on who have got everything', () => {
    const { relay, publish } = relayWith([entered('ann')]);
    const ann = record();
    relay.connect(connectAs('ann'), ann);
    publish(said('1'));
    relay.clear();
    expect(relay.kept()).to.equal(0);
    publish(said('2'));
    expect(types(ann)).to.deep.equal(['Said', 'Said']);
    relay.close();
  });

  it('tells those who come back to read the state, and gives them what came since', () => {
    const { relay, publish } = relayWith([entered('ann'), said('1'), said('2')]);
    relay.clear();
    publish(said('3'));
    const [before, after] = [record(), record()];
    relay.connect({ ...connectAs('ann'), after: 2n }, before);
    relay.connect({ ...connectAs('ann'), after: 3n }, after);
    expect(types(before)).to.deep.equal(['RESET']);
    expect(types(after)).to.deep.equal(['Said']);
    relay.close();
  });

  it('tells those who read slowly, of what waits for them, though nothing comes after it', () => {
    const { relay, publish } = relayWith([entered('ann')]);
    const ann = record();
    ann.reading = false;
    relay.connect(connectAs('ann'), ann);
    for (let n = 0; n < 20; n++) publish(said('x'.repeat(10_000)));
    const unread = ann.sent.length;
    expect(unread).to.be.below(20);
    relay.clear();
    ann.read();
    expect(types(ann).slice(unread)).to.deep.equal(['RESET']);
    relay.close();
  });
});
