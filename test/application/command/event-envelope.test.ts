/** Events on their way into the log: the same from the same command, and from no other. */
import { expect } from 'chai';
import { contentSeed, newEvent } from '../../../application/command/event-envelope.js';
import type { EventData } from '../../../domain/shared/decider.js';

const origin = { service: 'toys', release: 'r1' };
const put = { type: 'ToyPut', data: { box: '1', toy: 'bear', secret: { note: 'for Ada' } } };
const context = { commandId: 'c1', actor: 'ada', correlationId: 'k1' };
const id = (index = 0, stream = 'toys.box-1', by = context, seed = '') =>
  newEvent(origin, stream, put, index, by, seed).id;

describe('an event on its way into the log', () => {
  it('has an id that follows from command, stream, index and seed, and no two the same', () => {
    expect(id()).to.equal(id());
    const others = [
      id(1),
      id(0, 'toys.box-2'),
      id(0, 'toys.box-1', { ...context, commandId: 'c2' }),
      id(0, 'toys.box-1', context, 'other'),
    ];
    expect(new Set([id(), ...others])).to.have.property('size', 5);
    // For good: a command that is sent again after an upgrade is known by it.
    expect(id()).to.equal('1eaacbe9-be46-5976-973c-e48cf86c2e57');
    expect(id(0, 'toys.böx')).to.equal('557efd0f-5276-5d55-85e2-0fe08d670416');
  });

  it('says who caused it, and on whose request', () => {
    expect(newEvent(origin, 'toys.box-1', put, 0, context)).to.deep.include({
      event: put,
      metadata: {
        $correlationId: 'k1',
        $causationId: 'c1',
        commandId: 'c1',
        actor: 'ada',
        service: 'toys',
        release: 'r1',
      },
    });
    const more = { ...context, causationId: 'e9', fingerprint: 'f', traceparent: '00-1-2-01' };
    expect(newEvent(origin, 'toys.box-1', put, 0, more).metadata).to.deep.equal({
      $correlationId: 'k1',
      $causationId: 'e9',
      commandId: 'c1',
      fingerprint: 'f',
      actor: 'ada',
      service: 'toys',
      release: 'r1',
      traceparent: '00-1-2-01',
    });
  });

  it('is the very same fact only with the same data and request, and tells nothing of its secret', () => {
    const seed = (data: EventData, fingerprint?: string) =>
      contentSeed({ type: 'ToyPut', data }, { ...context, ...(fingerprint ? { fingerprint } : {}) });
    expect(seed(put.data, 'f')).to.equal(seed({ ...put.data, secret: { note: 'for Bob' } }, 'f'));
    expect(seed(put.data, 'f')).not.to.equal(seed(put.data, 'g'));
    expect(seed(put.data)).not.to.equal(seed({ ...put.data, toy: 'car' }));
    expect(seed(put.data)).not.to.include('Ada');
    expect(seed({ box: '1' })).to.equal(' ' + ' {"box":"1"}');
  });
});
