/** Participants in the log without a connection: a node removes its own, and no others. */
import { expect } from 'chai';
import { createSignaling, type SignalingDeps } from '../../../adapters/http/meeting/socket-route.js';
import { happened, joined, NOON, requested } from '../../support/meeting-fixtures.js';

describe('participants without a connection', () => {
  function signaling() {
    const calls: string[] = [];
    const deps: Pick<SignalingDeps, 'run' | 'actions' | 'returnMs' | 'systemContext'> = {
      run: 'north',
      returnMs: 4000,
      actions: {
        execute: () => Promise.reject(new Error('nobody acts here')),
        leave: () => Promise.reject(new Error('nobody leaves here')),
        async restoreConnection({ participantId, seat: { id } }, node) {
          calls.push(`${participantId} stays at ${node} on ${id}`);
        },
        async leaveWhenDisconnected({ participantId, seat: { id } }, _, afterMs) {
          calls.push(`${participantId} from ${id} after ${afterMs} ms`);
        },
      },
      systemContext: (actor) => ({ commandId: 'c', correlationId: 'c', actor }),
    };
    // No other dependency is used without connections.
    return { calls, made: createSignaling(deps as SignalingDeps) };
  }
  const onOtherNode = { ...joined('cleo'), data: { ...joined('cleo').data, node: 'south' } };

  it('are removed from the room or the waiting room when they belong to this node', () => {
    const { calls, made } = signaling();
    for (const event of [joined('ada'), requested('bob'), onOtherNode]) made.onEvent(event);
    expect(calls).to.deep.equal(['ada from seat-of-ada after 0 ms', 'bob from seat-of-bob after 0 ms']);
  });

  it('keep their place for the return period when they have returned before', () => {
    const { calls, made } = signaling();
    const connected = { node: 'north', seat: 'second' };
    made.onEvent(happened('ParticipantReturned', { participantId: 'ada', returnedAt: NOON, ...connected }));
    expect(calls).to.deep.equal(['ada from second after 4000 ms']);
  });

  it('are left alone while this node stops', () => {
    const { calls, made } = signaling();
    made.close();
    made.onEvent(joined('ada'));
    expect(calls).to.deep.equal([]);
  });
});
