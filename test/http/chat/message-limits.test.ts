/** Message limits per minute, for users and webhooks. */
import { expect } from 'chai';
import { chatSettings } from '../../../application/chat/settings.js';
import { type ChatNodes, useChat } from '../../support/chat-scenario.js';
import { type Answered, ask, type Member, type RequestOptions } from '../../support/http-spec.js';

const MESSAGES = 'chat.messagesPerMinute';
const WEBHOOK_MESSAGES = 'chat.webhookMessagesPerMinute';

const requesterFor =
  (chat: ChatNodes) =>
  (
    { token }: Pick<Member, 'token'>,
    method: string,
    path: string,
    body: object = {},
    headers: RequestOptions['headers'] = {},
  ) =>
    ask(chat.base, method, path, { token, body, headers });

function expectLimited({ status, body, headers }: Answered, error: RegExp) {
  expect([status, body.error]).to.deep.equal([429, error.exec(body.error)?.input]);
  expect(Number(headers.get('retry-after'))).to.be.within(1, 60);
}

describe('default message limits', function () {
  this.timeout(60_000);
  const chat = useChat(1, {
    '--chat-messages-per-minute': String(chatSettings[MESSAGES].default),
    '--chat-webhook-messages-per-minute': String(chatSettings[WEBHOOK_MESSAGES].default),
  });
  const as = requesterFor(chat);

  it('allow a user a burst of 60 messages, and two more each second', async () => {
    const [ada, bob] = [await chat.join('ada'), await chat.join('bob')];
    const { channel } = (await as(ada, 'POST', '/channels', { name: 'talk' })).body;
    const post = (who: Member, key: string) =>
      as(who, 'POST', `/channels/${channel.id}/messages`, { content: key }, { 'idempotency-key': key });
    const since = performance.now();
    const answers = await Promise.all(Array.from({ length: 150 }, (_, n) => post(ada, `message ${n}`)));
    const seconds = (performance.now() - since) / 1000;
    const posted = answers.filter(({ status }) => status === 200);
    expect(posted.length).to.be.within(60, 61 + 2 * seconds);
    for (const each of answers.filter((each) => !posted.includes(each)))
      expectLimited(each, /^Too many messages, edits, pins and reactions by this user/);
    expect((await post(bob, 'bob')).status, 'another user').to.equal(200);
  });

  it('allow a webhook 60 messages a minute', async () => {
    const { channel } = (await as(chat.admin, 'POST', '/channels', { name: 'bots' })).body;
    const webhook = async (name: string) =>
      (await as(chat.admin, 'POST', '/webhooks', { name, channelId: channel.id })).body.webhook;
    const [bot, other] = [await webhook('bot'), await webhook('other')];
    const postAs = ({ id, token }: typeof bot, key: string) =>
      as({ token }, 'POST', `/webhooks/${id}/messages`, { content: key }, { 'idempotency-key': key });
    const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => postAs(bot, `message ${n}`)));
    for (const { status } of answers) expect(status).to.equal(200);
    expectLimited(await postAs(bot, 'one more'), /^Too many messages by this webhook/);
    expect((await postAs(bot, 'message 0')).body, 'a repetition').to.deep.equal(answers[0]!.body);
    expect((await postAs(other, 'hello')).status, 'another webhook').to.equal(200);
  });
});

describe('charges against the message limit', function () {
  this.timeout(60_000);
  // A burst of three, and one more every ten seconds.
  const chat = useChat(1, { '--chat-messages-per-minute': '6' });
  const as = requesterFor(chat);

  it('apply to posts, replies, edits, pins and reactions, but not to repetitions and deletions', async () => {
    const [ada, bob] = [await chat.join('ada'), await chat.join('bob')];
    const { channel } = (await as(ada, 'POST', '/channels', { name: 'talk' })).body;
    const { conversation } = (await as(ada, 'POST', '/conversations', { targetUserId: bob.id })).body;
    const messages = `/channels/${channel.id}/messages`;
    const direct = `/conversations/${conversation.id}/messages`;
    const post = () => as(ada, 'POST', messages, { content: 'first' }, { 'idempotency-key': 'first' });
    const first = await post();
    const { id } = first.body.message;
    const reply = await as(ada, 'POST', `/messages/${id}/thread`, { content: 'a reply' });
    const hello = await as(ada, 'POST', direct, { content: 'hello' });
    expect([first, reply, hello].map(({ status }) => status)).to.deep.equal([200, 200, 200]);

    for (const [method, path, body] of [
      ['POST', messages, { content: 'more' }],
      ['PUT', `/messages/${id}`, { content: 'edited' }],
      ['POST', `/messages/${id}/pin`, {}],
      ['POST', `/messages/${id}/reactions`, { reaction: '+1' }],
      ['POST', `/messages/${id}/thread`, { content: 'again' }],
      ['PUT', `/messages/${id}/thread/${reply.body.reply.id}`, { content: 'edited' }],
      ['POST', direct, { content: 'more' }],
      ['PUT', `${direct}/${hello.body.message.id}`, { content: 'edited' }],
    ] as const) {
      // On a slow machine the limit may have refilled by one.
      await as(ada, 'POST', messages, { content: 'more' });
      expectLimited(await as(ada, method, path, body), /^Too many messages/);
    }
    expect((await post()).body, 'a repetition').to.deep.equal(first.body);
    expect((await as(ada, 'DELETE', `/messages/${id}`)).status).to.equal(200);
  });
});
