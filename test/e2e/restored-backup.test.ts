/** A log restored from a backup beside newer read models: new commands are not mistaken for processed ones. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { logClient } from '../support/log-client.js';
import { call, createRoom, type RoomClient, type RoomState } from '../support/room-client.js';
import { eventsIn, run, type Server, startServer } from '../support/server-process.js';

describe('a log restored from a backup', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  const dataDir = join(directory.path, 'data');
  const [log, backup] = [join(dataDir, 'eventstore'), join(directory.path, 'backup')];
  let server: Server;

  before(async () => {
    server = await startServer(dataDir, ['rooms', 'logs']);
  });
  after(async () => {
    await server?.stop('SIGKILL');
    directory.remove();
  });

  const backUp = async () => {
    rmSync(backup, { recursive: true, force: true });
    expect((await run(['backup', backup, '--data-dir', dataDir])).code).to.equal(0);
  };
  /** Of the log alone, while no server runs. */
  const restore = () => {
    rmSync(log, { recursive: true });
    cpSync(join(backup, 'eventstore'), log, { recursive: true });
  };
  const state = ({ roomId, sessionToken: token }: RoomClient) =>
    call<RoomState>(server.urls.rooms ?? '', 'GET', `/rooms/${roomId}/state`, { token });
  const logs = () => logClient(server.urls.logs ?? '');
  const found = async (word: string) => {
    const { body, headers } = await logs().ask<{ entries: object[] }>('GET', `/api/logs?q=${word}`);
    return [body.entries.length, headers.get('consistency')];
  };
  const envelope = async (room: RoomClient, plain: string) => {
    const answer = await call<{ message: { id: string } }>(
      server.urls.rooms ?? '',
      'POST',
      `/rooms/${room.roomId}/messages`,
      { token: room.sessionToken, body: await room.seal(plain) },
    );
    expect(answer.status).to.equal(201);
    return answer.body.message.id;
  };

  it('is detected by services that start only after the log has grown past the lost part', async () => {
    await logs().ingest([{ message: 'before' }]);
    await backUp();
    await logs().ingest([{ message: 'lost' }]);
    expect(await found('lost')).to.deep.equal([1, null]);
    expect(await server.stop()).to.equal(0);

    restore();
    server = await startServer(dataDir, ['rooms']);
    const ada = await createRoom(server.urls.rooms ?? '', 'Ada');
    for (let n = 0; n < 10; n++) await envelope(ada, 'x'.repeat(1000));
    expect(await server.stop()).to.equal(0);

    server = await startServer(dataDir, ['rooms', 'logs']);
    await logs().ingest([{ message: 'restored' }]);
    expect(await found('restored')).to.deep.equal([1, null]);
    expect(await found('lost')).to.deep.equal([0, null]);
  });

  it('is served from then on: new posts, records and burns take effect and are visible', async () => {
    const ada = await createRoom(server.urls.rooms ?? '', 'Ada');
    const backedUp = await envelope(ada, 'before the backup');
    await logs().ingest([{ message: 'before' }]);
    await backUp();
    for (let n = 0; n < 20; n++) await envelope(ada, `after the backup ${n}`);
    await logs().ingest(Array.from({ length: 20 }, () => ({ message: 'lost' })));
    const eve = await createRoom(server.urls.rooms ?? '', 'Eve');
    await eve.burn();
    await state(ada);
    expect(await found('lost')).to.deep.equal([20, null]);
    // Old builds are retained for a while; the restored log decides which one is served.
    expect((await logs().ask('POST', '/api/reindex')).status).to.equal(200);
    expect(await server.stop()).to.equal(0);

    restore();
    server = await startServer(dataDir, ['rooms', 'logs']);
    expect(server.lines.filter((line) => line.includes('ahead of the log'))).to.have.length(2);
    const first = await state(ada);
    expect(first.body.messages.map(({ id }) => id)).to.deep.equal([backedUp]);
    const posted = await envelope(ada, 'after the restoration');
    const { body, headers } = await state(ada);
    expect(headers.get('consistency')).to.equal(null);
    expect(body.messages.map(({ id }) => id)).to.deep.equal([backedUp, posted]);
    await logs().ingest([{ message: 'returned' }]);
    expect(await found('returned')).to.deep.equal([1, null]);
    expect(await found('lost')).to.deep.equal([0, null]);

    // Process managers run as well.
    const { roomId, sessionToken: token } = ada;
    await call(server.urls.rooms ?? '', 'POST', `/rooms/${roomId}/burn`, { token });
    const stream = `rooms.room-${roomId}`;
    await eventually(async () => (await eventsIn(server, { stream })).some(({ type }) => type.includes('RoomErased')));
  });
});
