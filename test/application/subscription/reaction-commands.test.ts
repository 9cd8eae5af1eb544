/** What follows an event: one command however often that comes, known to be of it and of whoever began it all. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createDerivation } from '../../../adapters/crypto/derivation.js';
import { causedBy } from '../../../application/subscription/reaction-runner.js';
import { eventAt } from '../../support/memory-ports.js';

describe('the command by which a reaction follows an event', () => {
  const derivation = createDerivation(randomBytes(32));
  const event = eventAt(1n);

  it('is the same when the event comes again, and another one for each actor, event and part', () => {
    const id = (...of: [string, typeof event, ...string[]]) => causedBy(derivation, ...of).commandId;
    const first = id('toys.tidy', event);
    expect(id('toys.tidy', { ...event })).to.equal(first);
    const others = [id('toys.sort', event), id('toys.tidy', eventAt(2n)), id('toys.tidy', event, 'bear')];
    expect(new Set([first, ...others]).size).to.equal(4);
  });

  it('says what it comes of, and what that came of', () => {
    const { actor, causationId, correlationId } = causedBy(derivation, 'toys.tidy', event);
    expect([actor, causationId, correlationId]).to.deep.equal(['toys.tidy', event.id, event.id]);
    const begun = { ...event, metadata: { $correlationId: 'of a request' } };
    expect(causedBy(derivation, 'toys.tidy', begun).correlationId).to.equal('of a request');
  });
});
