/** Presence rules: status follows open streams, unless the user has set it. */
import { expect } from 'chai';
import fc from 'fast-check';
import { STATUSES } from '../../../domain/chat/events/presence.js';
import { type PresenceCommand, presence, type Status } from '../../../domain/chat/presence.js';
import { NOON } from '../../support/chat-user-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { run } = specOf(presence);
const set = (status: Status, now = NOON): PresenceCommand => ({
  type: 'SetStatus',
  userId: 'ada',
  status,
  now,
});
const connect = (at = 'a', now = NOON): PresenceCommand => ({ type: 'Connect', userId: 'ada', run: at, now });
const disconnect = (at = 'a', now = NOON): PresenceCommand => ({
  type: 'Disconnect',
  userId: 'ada',
  run: at,
  now,
});
const after = (...commands: readonly PresenceCommand[]) => run(commands).state;

describe('the presence of a user', () => {
  it('is offline without a stream, online with the first, and offline after the last', () => {
    expect(after().status).to.equal('offline');
    expect(after(connect()).status).to.equal('online');
    expect(after(connect('a'), connect('b'), disconnect('a')).status).to.equal('online');
    expect(after(connect('a'), connect('b'), disconnect('a'), disconnect('b')).status).to.equal('offline');
  });

  it('keeps a status set by the user until it is changed or the last stream closes', () => {
    expect(after(connect(), set('away')).status).to.equal('away');
    expect(after(connect(), set('away'), connect('b'), disconnect('b')).status).to.equal('away');
    expect(after(set('away'), connect()).status).to.equal('away');
    expect(after(connect(), set('offline'), set('online')).status).to.equal('online');
    expect(after(connect(), set('away'), disconnect()).status).to.equal('offline');
    expect(after(connect(), set('away'), disconnect(), connect()).status).to.equal('online');
  });

  it('emits an event only on a change', () => {
    const { events } = run([
      connect(),
      connect(),
      set('away'),
      set('away'),
      disconnect('b'),
      disconnect(),
      disconnect(),
    ]);
    expect(events.map(({ data }) => [data.former, data.status])).to.deep.equal([
      ['offline', 'online'],
      ['online', 'away'],
      ['away', 'offline'],
    ]);
  });

  it('was last seen when its status last changed', () => {
    const state = after(connect('a', NOON), connect('b', NOON + 1), disconnect('a', NOON + 2));
    expect(state.lastSeen).to.equal(NOON);
    expect(after(connect('a', NOON), disconnect('a', NOON + 3)).lastSeen).to.equal(NOON + 3);
  });

  it('is completely described by its last event', () => {
    const place = fc.constantFrom('a', 'b', 'c');
    const command = fc.oneof(
      fc.constantFrom(...STATUSES).map((status) => set(status)),
      place.map((at) => connect(at)),
      place.map((at) => disconnect(at)),
    );
    fc.assert(
      fc.property(fc.array(command), (commands) => {
        const { events, state } = run(commands);
        expect(specOf(presence).after(events.slice(-1))).to.deep.equal(state);
        if (state.runs.length === 0 && !state.isByHand) expect(state.status).to.equal('offline');
      }),
    );
  });
});
