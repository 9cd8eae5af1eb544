/** Whom the log takes into a meeting when their connection has long ended: they leave, and nobody else does. */
import { expect } from 'chai';
import { createSignaling, type SignalingDeps } from '../../../adapters/http/meeting/socket-route.js';
import { happened, joined, NOON, requested } from '../../support/meeting-fixtures.js';

describe('who is in a meeting without a connection', () => {
  function signaling() {
    const gone: string[] = [];
    const deps: Pick<SignalingDeps, 'run' | 'actions' | 'returnMs' | 'systemContext'> = {
      run: 'north',
      returnMs: 4000,
      actions: {
        execute: () => Promise.reject(new Error('nobody acts here')),
        leave: () => Promise.reject(new Error('nobody leaves here')),
        async restoreConnection({ participantId, seat: { id } }, node) {
          gone.push(`${participantId} stays at ${node} on ${id}`);
        },
        async leaveWhenDisconnected({ participantId, seat: { id } }, _, afterMs) {
          gone.push(`${participantId} from ${id} after ${afterMs} ms`);
        },
      },
      systemContext: (actor) => ({ commandId: 'c', correlationId: 'c', actor }),
    };
    // Nobody connects here: no more is asked for.
    return { gone, made: createSignaling(deps as SignalingDeps) };
  }
  const elsewhere = { ...joined('cleo'), data: { ...joined('cleo').data, node: 'south' } };

  it('leaves, inside or waiting, where it is at this node', () => {
    const { gone, made } = signaling();
    for (const event of [joined('ada'), requested('bob'), elsewhere]) made.onEvent(event);
    expect(gone).to.deep.equal(['ada from seat-of-ada after 0 ms', 'bob from seat-of-bob after 0 ms']);
  });

  it('keeps a place for as long as one is kept, where they came back to it', () => {
    const { gone, made } = signaling();
    const connected = { node: 'north', seat: 'second' };
    made.onEvent(happened('ParticipantReturned', { participantId: 'ada', returnedAt: NOON, ...connected }));
    expect(gone).to.deep.equal(['ada from second after 4000 ms']);
  });

  it('comes back later where this node stops', () => {
    const { gone, made } = signaling();
    made.close();
    made.onEvent(joined('ada'));
    expect(gone).to.deep.equal([]);
  });
});
