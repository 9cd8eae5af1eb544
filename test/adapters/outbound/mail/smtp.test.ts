/** Mail to a real SMTP server: temporary refusals are retried, permanent ones are not. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createMailer } from '../../../../adapters/outbound/mail/smtp.js';
import { type PostOffice, startPostOffice } from '../../../support/smtp-server.js';

describe('mail over SMTP', function () {
  this.timeout(60_000);
  let post: PostOffice;
  let mailer: ReturnType<typeof createMailer>;
  const { signal } = new AbortController();

  beforeEach(async () => {
    post = await startPostOffice();
    const server = { host: '127.0.0.1', port: post.port, secure: false, isLocal: true };
    mailer = createMailer({ ...server, from: 'Annals <annals@example.org>', maxRetries: 2, logger: silentLogger });
  });
  afterEach(async () => {
    await mailer?.close();
    post?.stop();
  });

  const send = (to: string) =>
    mailer.send({ id: 'link', to, subject: 'Come in', text: 'https://chat.example', html: '<p>' }, signal);

  it('is retried after a temporary refusal', async () => {
    post.refuse(2);
    expect(await send('ada@example.org')).to.equal(true);
    expect(post.refused()).to.equal(2);
    expect((await post.letterTo('ada@example.org')).messageId).to.equal('<link@example.org>');
  });

  it('is given up after the maximum of attempts', async () => {
    post.refuse(3);
    expect(await send('ada@example.org')).to.equal(false);
    expect(post.refused()).to.equal(3);
  });

  it('is given up at once after a permanent refusal', async () => {
    post.refuse(1, 554);
    expect(await send('ada@example.org')).to.equal(false);
    expect(post.refused()).to.equal(1);
    expect(await send('ada@example.org')).to.equal(true);
  });

  it('is given up at once for an unknown recipient', async () => {
    expect(await send('stranger@example.org')).to.equal(false);
    expect(await send('no address')).to.equal(false);
    expect(post.refused()).to.equal(1);
    expect(post.letters).to.deep.equal([]);
  });
});
