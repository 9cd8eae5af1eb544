/** Meetings whose log is frozen (SIGSTOP) and thawed: clients get a retry time before their deadline, and no ghost participant stays. */
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { enterRoom, joinedIn, open, peopleAt } from '../support/meeting-client.js';
import { type Server, startServer } from '../support/server-process.js';

describe('a meeting whose log is frozen', function () {
  this.timeout(90_000);
  const directory = temporaryDirectory();
  let server: Server;
  before(async () => {
    server = await startServer(directory.path, ['meeting', '--meeting-return-seconds', '0.3']);
  });
  after(async () => {
    process.kill(server.pids.eventstore!, 'SIGCONT');
    await server.stop('SIGKILL');
    directory.remove();
  });

  it('tells all clients to retry, and keeps no participant whose join took too long', async () => {
    const base = server.urls.meeting!;
    const people = [await enterRoom(base, 'FREEZE', 'Ada', { isHost: true })];
    for (const name of ['Bob', 'Cleo', 'Dan']) people.push(await enterRoom(base, 'FREEZE', name));
    const eve = await open(base);
    await Promise.all(people.map((each) => each.answered()));
    process.kill(server.pids.eventstore!, 'SIGSTOP');
    const since = performance.now();
    for (const each of people) each.send('raise-hand');
    eve.send('join', { roomId: 'FREEZE', name: 'Eve' });
    const closes = [...people, eve].map(async ({ closed }) => [(await closed).code, performance.now() - since]);
    for (const [code, ms] of await Promise.all(closes)) {
      expect(code).to.equal(1013);
      expect(ms).to.be.below(10_000);
    }
    process.kill(server.pids.eventstore!, 'SIGCONT');
    await eventually(async () => (await peopleAt(base)) === 0);
    const fay = await enterRoom(base, 'FREEZE', 'Fay', { isHost: true });
    expect(fay.news()).to.deep.equal([joinedIn('FREEZE', fay, 'Fay', true)]);
  });
});
