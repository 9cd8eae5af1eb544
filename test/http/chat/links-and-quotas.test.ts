/** Mailed links sign their owner in even when the session quota is used up. */
import { expect } from 'chai';
import { type Chats, inMode, startChats } from '../../support/chat-scenario.js';
import { ask } from '../../support/http-spec.js';
import { type PostOffice, startPostOffice } from '../../support/smtp-server.js';

const PASSWORD = 'correct horse';
const SESSIONS = 3;

for (const mode of ['password', 'magic-link'] as const)
  describe(`mailed links in ${mode} mode and the session quota`, function () {
    this.timeout(60_000);
    const email = 'ada@example.org';
    let post: PostOffice;
    let chats: Chats;
    before(async () => {
      post = await startPostOffice();
      chats = await startChats(1, {
        ...inMode(mode),
        '--email-host': '127.0.0.1',
        '--email-port': String(post.port),
        '--auth-is-invite-required': 'false',
        '--chat-sessions-per-hour': String(SESSIONS),
      });
    });
    after(async () => {
      await chats?.stop();
      post?.stop();
    });

    const to = (path: string, body: object) => ask(chats.urls[0]!, 'POST', path, { body });
    const me = async (token: string) => (await ask(chats.urls[0]!, 'GET', '/auth/me', { token })).status;
    let letters = 0;

    async function signInByLink() {
      await to(mode === 'password' ? '/auth/request-password-reset' : '/auth/login', { email });
      const { link } = await post.letterTo(email, ++letters);
      const token = link.searchParams.get('token');
      return mode === 'password'
        ? to('/auth/setup-password', { token, password: `${PASSWORD} ${letters}` })
        : to('/auth/verify', { token });
    }

    it('sign in beyond the session quota, and end other sessions when a password is set', async () => {
      const first = await (mode === 'password' ? to('/auth/register', { email, password: PASSWORD }) : signInByLink());
      expect(first.status).to.equal(200);
      let stolen = first.body;
      for (let answer = first; answer.status === 200; ) {
        stolen = answer.body;
        answer = await to('/auth/refresh', { refreshToken: stolen.refreshToken });
        if (answer.status !== 200) expect(answer.status).to.equal(429);
      }
      if (mode === 'password')
        expect((await to('/auth/password-login', { email, password: PASSWORD })).status).to.equal(429);
      for (let n = 0; n <= SESSIONS; n++) {
        const done = await signInByLink();
        expect(done.status).to.equal(200);
        expect(await me(done.body.accessToken)).to.equal(200);
      }
      if (mode === 'password') expect(await me(stolen.accessToken)).to.equal(401);
    });
  });
