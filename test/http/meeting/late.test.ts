/** Whom the log takes into a meeting when their connection has long ended: they leave, and nobody else does. */
import { expect } from 'chai';
import { createSignaling, type SignalingDeps } from '../../../adapters/http/meeting/signaling.js';
import { joined, requested } from '../../support/meeting.js';

describe('who is in a meeting without a connection', () => {
  function signaling() {
    const gone: string[] = [];
    const deps: Pick<SignalingDeps, 'run' | 'inside' | 'systemContext'> = {
      run: 'north',
      inside: {
        act: () => Promise.reject(new Error('nobody acts here')),
        leave: () => Promise.reject(new Error('nobody leaves here')),
        async depart({ participantId, seat: { id } }) {
          gone.push(`${participantId} from ${id}`);
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
    for (const event of [joined('ada'), requested('bob'), elsewhere]) made.hear(event);
    expect(gone).to.deep.equal(['ada from seat-of-ada', 'bob from seat-of-bob']);
  });

  it('comes back later where this node stops', () => {
    const { gone, made } = signaling();
    made.close();
    made.hear(joined('ada'));
    expect(gone).to.deep.equal([]);
  });
});
