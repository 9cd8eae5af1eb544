/** Limit on joining unknown meetings, per network and minute: sockets are closed, and the network has to wait. */
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { enterRoom, open, type Person } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

describe('joining unknown meetings', function () {
  this.timeout(60_000);
  const meetings = useMeeting({
    '--server-trusted-proxies': '127.0.0.1',
    '--meeting-unknown-per-minute': '10',
  });
  const errors = ({ inbox }: Person) => inbox.flatMap(({ code }) => code ?? []);
  const EVE = '203.0.113.7';

  it('closes a socket after ten in its network with 1008, and blocks new ones; other networks are not affected', async () => {
    const ada = await enterRoom(meetings.base, 'KNOWN1', 'Ada', { isHost: true }, EVE);
    const [eve, mallory] = [await open(meetings.base, EVE), await open(meetings.base, EVE)];
    for (let n = 0; n < 4; n++) mallory.send('join', { roomId: `NONE0${n}`, name: 'Eve' });
    await mallory.answered();
    for (let n = 0; n < 20; n++) eve.send('join', { roomId: `NONE${10 + n}`, name: 'Eve' });
    expect(await eve.closed).to.deep.equal({ code: 1008, reason: 'Too many joins of unknown meetings' });
    expect(errors(eve)).to.deep.equal(Array(6).fill('ROOM_NOT_FOUND'));
    mallory.send('join', { roomId: 'KNOWN1', name: 'Mallory' });
    const refused = await mallory.waitFor(({ code }) => code === 'INVALID_MESSAGE');
    expect(refused.message).to.match(/try again later/);
    const upgrade = new WebSocket(`${meetings.base.replace('http', 'ws')}/ws`, {
      headers: { 'X-Forwarded-For': EVE },
    });
    upgrade.on('error', () => {});
    const answer = await new Promise((resolve) =>
      upgrade.once('unexpected-response', (_, { statusCode, headers }) =>
        resolve([statusCode, Number(headers['retry-after']) > 30]),
      ),
    );
    expect(answer).to.deep.equal([429, true]);
    // Participants stay, and others can join.
    ada.send('raise-hand');
    const bob = await enterRoom(meetings.base, 'KNOWN1', 'Bob', {}, '203.0.113.8');
    expect(bob.inbox[0]?.type).to.equal('participant-joined');
    for (const { socket } of [ada, bob, mallory]) socket.terminate();
  });
});
