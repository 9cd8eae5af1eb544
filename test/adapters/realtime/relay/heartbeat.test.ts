/** Heartbeats of streams: the cursor advances with the log for clients without frames. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createRelay } from '../../../../adapters/realtime/relay/relay.js';
import { at, record, types, wardAudience } from '../../../support/toy-service.js';

describe('a stream heartbeat', () => {
  it('advances the cursor so that a quiet client can still resume', async () => {
    const relay = createRelay({ audience: wardAudience, head: async () => 1000n, beatMs: 1, ringSize: 5 });
    const quiet = record();
    relay.publish(at(1, { type: 'Entered', data: { ward: 'w', person: 'ann' } }));
    relay.connect({ keys: ['person:eve'] }, quiet);
    for (let position = 2; position <= 40; position++) {
      relay.publish(at(position, { type: 'Wrote', data: { ward: 'w', text: 'nothing to eve' } }));
    }
    await eventually(() => quiet.cursor() === 40n);
    // Has no recipients.
    relay.publish(at(50, { type: 'Wrote', data: { ward: 'empty', text: '' } }));
    await eventually(() => quiet.cursor() === 50n);
    expect(quiet.sent).to.deep.equal([]);
    quiet.leave();
    const back = record();
    relay.connect({ keys: ['person:eve'], after: quiet.cursor()! }, back);
    expect(types(back)).to.deep.equal([]);
    relay.close();
  });
});
