/** Hourly quotas on the changes and uploads of a user; admins have none. */
import { expect } from 'chai';
import { useChat } from '../../support/chat-scenario.js';
import { ask, type Member, type RequestOptions } from '../../support/http-spec.js';

describe('quotas of a user', function () {
  this.timeout(60_000);
  const chat = useChat(1, { '--chat-changes-per-hour': '3', '--chat-uploads-per-hour': '1' });
  const as = ({ token }: Member, method: string, path: string, body: object, headers: RequestOptions['headers'] = {}) =>
    ask(chat.base, method, path, { token, body, headers });

  it('count created and changed channels and names, but not rejections, repetitions and no-ops', async () => {
    const ada = await chat.join('ada');
    const create = (who: Member, name: string, key: string) =>
      as(who, 'POST', '/channels', { name }, { 'idempotency-key': key });
    const made = await create(ada, 'first', 'one');
    const path = `/channels/${made.body.channel.id}`;
    expect((await create(ada, 'first', 'one')).body, 'a repetition').to.deep.equal(made.body);
    expect((await create(ada, 'first', 'two')).status, 'taken').to.equal(400);
    expect((await as(ada, 'PUT', path, { topic: 'this' })).status).to.equal(200);
    expect((await as(ada, 'PUT', path, { topic: 'this' })).status, 'the same').to.equal(200);
    expect((await as(ada, 'PUT', '/users/me', { userName: 'Ada' })).status).to.equal(200);
    for (const [method, route, body] of [
      ['PUT', '/users/me', { userName: 'Countess' }],
      ['PUT', path, { topic: 'that' }],
      ['POST', '/channels', { name: 'second' }],
    ] as const) {
      const refused = await as(ada, method, route, body);
      expect(refused.status, route).to.equal(429);
      expect(refused.body.error).to.match(/^Too many channels and names/);
      expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 3600);
    }
    expect((await as(await chat.join('bob'), 'POST', '/channels', { name: 'bobs' })).status).to.equal(200);
    for (let n = 0; n < 5; n++)
      expect((await as(chat.admin, 'PUT', path, { topic: `admin ${n}` })).status).to.equal(200);
    expect((await as(ada, 'DELETE', path, {})).status, 'deletions are free').to.equal(200);
  });

  it('count uploaded files, but not rejected ones', async () => {
    const cyd = await chat.join('cyd');
    const file = Buffer.from('hello').toString('base64');
    const upload = (who: Member, filename = 'a.txt') =>
      as(who, 'POST', '/files', { filename, file, contentType: 'text/plain' });
    expect((await upload(cyd, 'a.nothing')).status).to.equal(400);
    expect((await upload(cyd)).status).to.equal(200);
    const refused = await upload(cyd);
    expect([refused.status, refused.body.error]).to.deep.equal([
      429,
      'Too many files uploaded by this user, try again later',
    ]);
    for (let n = 0; n < 2; n++) expect((await upload(chat.admin)).status).to.equal(200);
  });
});

describe('quota of sessions', function () {
  this.timeout(60_000);
  const chat = useChat(1, { '--chat-sessions-per-hour': '3' });

  it('counts started and refreshed sessions, but no repetitions', async () => {
    const dan = await chat.join('dan');
    const refresh = (refreshToken: string, key: string) =>
      ask(chat.base, 'POST', '/auth/refresh', {
        body: { refreshToken },
        headers: { 'idempotency-key': key },
      });
    const once = await refresh(dan.refreshToken, 'once');
    expect(once.status).to.equal(200);
    const twice = await refresh(once.body.refreshToken, 'twice');
    expect(twice.status).to.equal(200);
    expect((await refresh(once.body.refreshToken, 'twice')).body.refreshToken).to.equal(twice.body.refreshToken);
    const body = { email: 'dan@example.org' };
    for (const refused of [
      await refresh(twice.body.refreshToken, 'more'),
      await ask(chat.base, 'POST', '/auth/dev-login', { body }),
    ]) {
      expect(refused.status).to.equal(429);
      expect(refused.body.error).to.match(/^Too many sessions/);
      expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 3600);
    }
    expect((await ask(chat.base, 'GET', '/auth/me', { token: twice.body.accessToken })).status).to.equal(200);
    await chat.join('eve');
  });
});
