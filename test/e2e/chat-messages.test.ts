/** Chat under kills: clients post while the server is killed and restarted; its data directory contains no plaintext. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { type Answered, ask, devLogin, EventStream, type Member } from '../support/http-spec.js';
import { bytesIn, type Server, startServer } from '../support/server-process.js';

const FLAGS = ['chat', '--auth-is-invite-required', 'false', '--auth-max-active-sessions', '50'];

/** A request with an idempotency key that may be repeated, and its first answer if there was one. */
interface Sent {
  readonly path: string;
  readonly key: string;
  readonly content: string;
  answer?: Answered;
}

describe('chat clients during server kills', function () {
  this.timeout(180_000);
  const directory = temporaryDirectory();
  let server: Server;
  let ada: Member;
  const base = () => server.urls.chat ?? '';
  const start = async () => {
    server = await startServer(directory.path, FLAGS);
    ada = await devLogin(base(), 'ada@example.org');
  };
  before(start);
  after(async () => {
    await server.stop();
    directory.remove();
  });

  const send = ({ path, key, content }: Sent) =>
    ask(base(), 'POST', path, { token: ada.token, body: { content }, headers: { 'idempotency-key': key } });
  const done = async (method: string, path: string, body?: unknown) => {
    const answered = await ask(base(), method, path, { token: ada.token, body });
    expect(answered.status, `${method} ${path}`).to.equal(200);
    return answered.body;
  };

  it('find every acknowledged message exactly once, and get the first answer for repeated requests', async () => {
    const { channel } = await done('POST', '/channels', { name: 'talk' });
    const { message } = await done('POST', `/channels/${channel.id}/messages`, { content: 'first' });
    const all: Sent[] = [];
    for (const round of [1, 2]) {
      let alive = true;
      const mine: Sent[] = [];
      const talk = async (path: string) => {
        while (alive) {
          const sent: Sent = { path, key: randomUUID(), content: `${path} ${mine.length}` };
          mine.push(sent);
          const answer = await send(sent).catch(() => undefined);
          if (answer?.status === 200) sent.answer = answer;
        }
      };
      const talking = [
        ...Array.from({ length: 6 }, () => talk(`/channels/${channel.id}/messages`)),
        ...Array.from({ length: 2 }, () => talk(`/messages/${message.id}/thread`)),
      ];
      await eventually(() => mine.filter(({ answer }) => answer).length >= 40 * round);
      const stopped = server.stop('SIGKILL');
      alive = false;
      await Promise.all([...talking, stopped]);
      all.push(...mine);
      await start();
    }

    for (const sent of all) {
      const again = await send(sent);
      expect(again.status, JSON.stringify(again.body)).to.equal(200);
      // The thread summary may include replies posted meanwhile.
      if (sent.answer) expect(again.body).to.deep.equal(sent.answer.body);
    }
    const contents: string[] = [];
    for (let before = ''; ; ) {
      const { messages } = await done('GET', `/channels/${channel.id}/messages?limit=100${before}`);
      contents.unshift(...messages.map(({ content }: { content: string }) => content));
      if (messages.length < 100) break;
      before = `&before=${messages[0].id}`;
    }
    const wanted = (path: string) => all.filter((each) => each.path.startsWith(path)).map(({ content }) => content);
    const inChannel = ['first', ...wanted('/channels')];
    expect(contents).to.have.members(inChannel).and.have.length(inChannel.length);
    const { replies } = await done('GET', `/messages/${message.id}/thread?limit=500`);
    const inThread = wanted('/messages');
    expect(replies).to.have.length(inThread.length);
    const { history } = await done('GET', `/messages/${message.id}/history`);
    expect(history).to.have.length(1);
  });

  it('resume private channels after a restart with the same visibility', async () => {
    const bob = await devLogin(base(), 'bob@example.org');
    const { channel } = await done('POST', '/channels', {
      name: 'private',
      isPrivate: true,
      members: [bob.id],
    });
    const listening = await EventStream.to(base(), { token: bob.token });
    const path = `/channels/${channel.id}/messages`;
    await done('POST', path, { content: 'before' });
    await listening.received(1, 'NEW_MESSAGE');
    await server.stop('SIGKILL');
    await start();
    await done('POST', path, { content: 'after' });
    const headers = { 'last-event-id': listening.ids.at(-1)! };
    const again = await EventStream.to(base(), { token: bob.token, headers });
    const [received] = await again.received(1, 'NEW_MESSAGE');
    expect(received!.payload).to.deep.include({ content: 'after', author: { id: ada.id, userName: 'ada' } });
    again.close();
    const cyd = await devLogin(base(), 'cyd@example.org');
    expect((await ask(base(), 'GET', path, { token: cyd.token })).status).to.equal(404);
  });

  it('leave no plaintext in the data directory', async () => {
    const words = ['Wolpertinger', 'Zwiebelfisch', 'Kummerspeck', 'Ohrwurm', 'Fernweh', 'Backpfeife', 'Katzenjammer'];
    const [name, topic, content, edited, reply, reaction, direct] = words;
    const { channel } = await done('POST', '/channels', { name, topic });
    const { message } = await done('POST', `/channels/${channel.id}/messages`, { content });
    await done('PUT', `/messages/${message.id}`, { content: edited });
    await done('POST', `/messages/${message.id}/thread`, { content: reply });
    await done('POST', `/messages/${message.id}/reactions`, { reaction });
    await done('POST', `/messages/${message.id}/pin`, {});
    const eve = await devLogin(base(), 'eve@example.org');
    const { conversation } = await done('POST', '/conversations', { targetUserId: eve.id });
    await done('POST', `/conversations/${conversation.id}/messages`, { content: direct });
    const { messages } = await done('GET', `/channels/${channel.id}/messages`);
    expect(messages[0]).to.deep.include({ content: edited, reactions: { [reaction!]: [ada.id] } });
    await server.stop();
    const everything = bytesIn(directory.path);
    // The data is uncompressed, so that searching for plaintext is a valid check.
    expect(everything.includes('chat.message-')).to.equal(true);
    expect(everything.includes('chat_messages_v')).to.equal(true);
    for (const word of [...words, 'eve@example.org']) {
      for (const form of [word, Buffer.from(word).toString('base64').slice(0, 10), word.toLowerCase()])
        expect(everything.includes(form), form).to.equal(false);
    }
    await start();
  });
});
