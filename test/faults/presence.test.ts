/** Users of a killed node become offline within 30 seconds, by other nodes or by itself when it restarts. */
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers, temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { ask, devLogin, EventStream } from '../support/http-spec.js';
import { type Server, startServer } from '../support/server-process.js';

describe('presence of users whose node was killed', function () {
  this.timeout(180_000);
  const directories = [temporaryDirectory(), temporaryDirectory()];
  const running: Server[] = [];
  let engines: Servers;

  before(async () => {
    engines = await startServers();
  });
  after(async () => {
    for (const server of running) await server.stop('SIGKILL');
    await engines?.stop();
    for (const { remove } of directories) remove();
  });

  async function start(index: number): Promise<string> {
    const urls = ['--event-store-url', engines.eventStoreUrl, '--mongo-url', engines.mongoUrl];
    const flags = [
      'chat',
      '--mongo-database',
      'test_presence',
      '--secret',
      'a secret that all of the nodes have got',
      '--auth-is-invite-required',
      'false',
    ];
    running[index] = await startServer(directories[index]!.path, [...urls, ...flags]);
    return running[index].urls.chat!;
  }

  const of = async (base: string, token: string, userId: string) =>
    (await ask(base, 'GET', '/presence', { token })).body.presence.find(
      (each: { userId: string }) => each.userId === userId,
    );

  it('becomes offline for users without another node; users who reconnected elsewhere stay online', async () => {
    const [one, two] = [await start(0), await start(1)];
    const [ada, bob] = [await devLogin(one, 'ada@example.org'), await devLogin(one, 'bob@example.org')];
    for (const who of [ada, bob]) await EventStream.to(one, { token: who.token });
    const moved = await EventStream.to(two, { token: bob.token });
    for (const who of [ada, bob]) await eventually(async () => (await of(two, ada.token, who.id)).status === 'online');
    await ask(two, 'PUT', '/presence/me', { token: ada.token, body: { status: 'away' } });
    const killed = Date.now();
    await running[0]!.stop('SIGKILL');
    await eventually(async () => (await of(two, ada.token, ada.id)).status === 'offline');
    expect((await of(two, ada.token, ada.id)).lastSeen - killed).to.be.below(30_000);
    expect((await of(two, ada.token, bob.id)).status).to.equal('online');
    await eventually(() =>
      moved.frames.some(({ payload }) => payload.userId === ada.id && payload.status === 'offline'),
    );
    // No node is left to record it for the users of the last one until it restarts.
    await running[1]!.stop('SIGKILL');
    const again = await start(1);
    await eventually(async () => (await of(again, ada.token, bob.id)).status === 'offline');
  });
});
