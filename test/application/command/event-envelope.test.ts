/** Event envelopes: the same command gives the same event ids, and no other command does. */
import { expect } from 'chai';
import { contentSeed, newEvent } from '../../../application/command/event-envelope.js';
import type { EventData } from '../../../domain/shared/decider.js';

const origin = { service: 'toys', release: 'r1' };
const put = { type: 'ToyPut', data: { box: '1', toy: 'bear', secret: { note: 'for Ada' } } };
const context = { commandId: 'c1', actor: 'ada', correlationId: 'k1' };
const id = (index = 0, stream = 'toys.box-1', by = context, seed = '') =>
  newEvent(origin, stream, put, index, by, seed).id;

describe('an event envelope', () => {
  it('has a unique id derived from command, stream, index and seed', () => {
    expect(id()).to.equal(id());
    const others = [
      id(1),
      id(0, 'toys.box-2'),
      id(0, 'toys.box-1', { ...context, commandId: 'c2' }),
      id(0, 'toys.box-1', context, 'other'),
    ];
    expect(new Set([id(), ...others])).to.have.property('size', 5);
    // Fixed values: a command repeated after an upgrade is recognised by them.
    expect(id()).to.equal('1eaacbe9-be46-5976-973c-e48cf86c2e57');
    expect(id(0, 'toys.böx')).to.equal('557efd0f-5276-5d55-85e2-0fe08d670416');
  });

  it('names the cause and the request of the event', () => {
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

  it('has a content seed that depends on data and request, and not on the secret', () => {
    const seed = (data: EventData, fingerprint?: string) =>
      contentSeed({ type: 'ToyPut', data }, { ...context, ...(fingerprint ? { fingerprint } : {}) });
    expect(seed(put.data, 'f')).to.equal(seed({ ...put.data, secret: { note: 'for Bob' } }, 'f'));
    expect(seed(put.data, 'f')).not.to.equal(seed(put.data, 'g'));
    expect(seed(put.data)).not.to.equal(seed({ ...put.data, toy: 'car' }));
    expect(seed(put.data)).not.to.include('Ada');
    expect(seed({ box: '1' })).to.equal(' ' + ' {"box":"1"}');
  });
});
