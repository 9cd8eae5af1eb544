/** Commands caused by events: derived ids, with causation and correlation. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createDerivation } from '../../../adapters/crypto/derivation.js';
import { causedBy } from '../../../application/subscription/reaction-runner.js';
import { eventAt } from '../../support/memory-ports.js';

describe('the command a reaction derives from an event', () => {
  const derivation = createDerivation(randomBytes(32));
  const event = eventAt(1n);

  it('has an id derived from reaction, event and part', () => {
    const id = (...of: [string, typeof event, ...string[]]) => causedBy(derivation, ...of).commandId;
    const first = id('toys.tidy', event);
    expect(id('toys.tidy', { ...event })).to.equal(first);
    const others = [id('toys.sort', event), id('toys.tidy', eventAt(2n)), id('toys.tidy', event, 'bear')];
    expect(new Set([first, ...others]).size).to.equal(4);
  });

  it('carries the causation and correlation of the event', () => {
    const { actor, causationId, correlationId } = causedBy(derivation, 'toys.tidy', event);
    expect([actor, causationId, correlationId]).to.deep.equal(['toys.tidy', event.id, event.id]);
    const begun = { ...event, metadata: { $correlationId: 'of a request' } };
    expect(causedBy(derivation, 'toys.tidy', begun).correlationId).to.equal('of a request');
  });
});
