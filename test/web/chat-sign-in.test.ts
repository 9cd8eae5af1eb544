/** Signing in to the chat in a real browser: all modes, links from mails, OAuth providers, and tabs that share a session. */
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { chat } from '../../bin/services/chat.js';
import { accessible } from '../support/browser.js';
import { inMode } from '../support/chat-scenario.js';
import { type RunningNode, startNode } from '../support/node.js';
import { type Provider, startProvider } from '../support/oauth-provider.js';
import { type PostOffice, startPostOffice } from '../support/smtp-server.js';
import { button, expectText, inWorkspace, noScroll, openSection, PHONE, picture, useChatPages } from './chat-page.js';

const ADA = 'ada@example.org';
const BEA = 'bea@example.org';
const CYD = 'cyd@example.org';
const PASSWORD = 'correct horse battery';

describe('signing in to the chat page', function () {
  this.timeout(120_000);
  const { open } = useChatPages();
  let servers: Servers;
  let office: PostOffice;
  let provider: Provider;
  const nodes: RunningNode[] = [];

  before(async () => {
    [servers, office, provider] = await Promise.all([startServers(), startPostOffice(), startProvider('campus')]);
  });
  after(async () => {
    for (const node of nodes) await node.stop();
    office?.stop();
    provider?.stop();
    await servers?.stop();
  });

  const mail = () => ({
    '--email-host': '127.0.0.1',
    '--email-port': String(office.port),
    '--email-from': 'chat@example.org',
  });

  /** Starts a chat of its own; returns its address. */
  async function start(flags: { readonly [flag: string]: string } = {}, file?: object): Promise<string> {
    const node = await startNode([chat], { servers, flags: { '--chat-port': '0', ...flags }, ...(file && { file }) });
    nodes.push(node);
    return node.url('chat');
  }

  const storedSession = (page: Page) =>
    page.evaluate<{ accessToken: string; refreshToken: string } | null>(
      "JSON.parse(localStorage.getItem('chat.session'))",
    );

  it('lets the first admin in with one click in development mode', async () => {
    const base = await start();
    const page = await open(base, { viewport: PHONE, colorScheme: 'dark' });
    await button(page, 'Sign in').waitFor();
    await accessible(page);
    await noScroll(page);
    await picture(page, 'sign-in-dev');
    await button(page, 'Sign in').click();
    await inWorkspace(page);
    await page.reload();
    await inWorkspace(page);
    expect((await storedSession(page))?.accessToken).to.be.a('string');

    const stranger = await open(base);
    await stranger.getByLabel('Email').fill('nobody@example.org');
    await stranger.keyboard.press('Enter');
    await expectText(stranger, 'Nobody with this email is a member here; ask an admin to add you');
  });

  it('signs in by a mailed link, once, after a click', async () => {
    const base = await start({ ...inMode('magic-link'), ...mail(), '--auth-is-invite-required': 'false' });
    const page = await open(base);
    await page.getByLabel('Email').fill(ADA);
    await accessible(page);
    await button(page, 'Mail me a link').click();
    await expectText(page, 'Check your mail');
    await picture(page, 'sign-in-mail-sent');
    await accessible(page);
    await button(page, 'Send it again').click();
    await expectText(page, 'Sent again.');
    const { link } = await office.letterTo(ADA, 2);

    const other = await open(link.href, { context: page.context() });
    await expectText(other, `Sign in as ${ADA}`);
    expect(other.url()).to.equal(`${base}/`);
    await picture(other, 'sign-in-link');
    await accessible(other);
    await button(other, 'Sign in').click();
    await inWorkspace(other);
    // The tab that waited for the mail is signed in, too.
    await inWorkspace(page);

    const late = await open(link.href);
    await button(late, 'Sign in').click();
    await expectText(late, 'This link has expired or was used before. Ask for a new one.');
    await button(late, 'Cancel').click();
    await late.getByLabel('Email').waitFor();
  });

  it('registers, refuses a wrong password, and sets a new one by a mailed link', async () => {
    const base = await start({
      ...inMode('password'),
      ...mail(),
      '--auth-is-invite-required': 'false',
    });
    const page = await open(base, { colorScheme: 'dark' });
    await button(page, 'Create an account').click();
    await page.getByLabel('Email').fill(BEA);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('Repeat the password').fill(`${PASSWORD}?`);
    await button(page, 'Create the account').click();
    await expectText(page, 'The two passwords are not the same.');
    await picture(page, 'sign-in-register');
    await accessible(page);
    await page.getByLabel('Repeat the password').fill(PASSWORD);
    await button(page, 'Create the account').click();
    await inWorkspace(page);

    const other = await open(base, { viewport: PHONE });
    await other.getByLabel('Email').fill(BEA);
    await other.getByLabel('Password', { exact: true }).fill('a wrong guess');
    await button(other, 'Sign in').click();
    await expectText(other, 'Email or password is wrong');
    await picture(other, 'sign-in-wrong-password');
    await noScroll(other);
    await accessible(other);
    await button(other, 'Show the password').first().click();
    expect(await other.getByLabel('Password', { exact: true }).inputValue()).to.equal('a wrong guess');

    await button(other, 'Forgot the password?').click();
    await other.getByLabel('Email').fill(BEA);
    await button(other, 'Mail me a link').click();
    await expectText(other, 'Check your mail');
    const { link } = await office.letterTo(BEA);
    expect(link.pathname).to.equal('/reset');
    await other.goto(link.href);
    await expectText(other, 'Set your password');
    expect(other.url()).to.equal(`${base}/`);
    await other.getByLabel('New password').fill('another horse battery');
    await other.getByLabel('Repeat the password').fill('another horse battery');
    await accessible(other);
    await button(other, 'Save and sign in').click();
    await inWorkspace(other);

    // The new password ended the other session.
    await expectText(page, 'Your session has ended.');
  });

  it('joins by an invitation', async () => {
    const flags = { ...inMode('password'), ...mail(), '--chat-initial-user-password': PASSWORD };
    const base = await start(flags);
    const page = await open(base);
    await expectText(page, 'Members join by invitation of an admin.');
    await page.getByLabel('Email').fill('admin@localhost');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await inWorkspace(page);
    await openSection(page, 'admin/members');
    await button(page, 'Add a member').click();
    await page.getByLabel('Email').fill(CYD);
    await button(page, 'Add').click();
    await expectText(page, `${CYD} is added. An invitation is on its way`);

    const { link } = await office.letterTo(CYD);
    const invited = await open(link.href, { viewport: PHONE, colorScheme: 'dark' });
    await invited.getByLabel('New password').fill('the words of cyd');
    await invited.getByLabel('Repeat the password').fill('the words of cyd');
    await picture(invited, 'sign-in-set-password');
    await button(invited, 'Save and sign in').click();
    await inWorkspace(invited);
    await button(page, 'Actions for cyd').waitFor();
  });

  it('signs in by an OAuth provider, and asks before it takes tokens that this tab did not ask for', async () => {
    const authorizationParams = { as: JSON.stringify({ email: ADA, email_verified: true, name: 'Ada Lovelace' }) };
    const settings = { ...provider.settings, name: 'Campus', authorizationParams };
    const flags = { ...inMode('password'), '--auth-is-invite-required': 'false' };
    const base = await start(flags, { oauth: { custom: [settings] } });
    const { origin: visits } = new URL((provider.settings as { authorizationUrl: string }).authorizationUrl);
    const page = await open(`${base}/#/account/sessions`, { visits });
    await page.getByRole('link', { name: 'Continue with Campus' }).waitFor();
    await picture(page, 'sign-in-provider');
    await accessible(page);
    await page.getByRole('link', { name: 'Continue with Campus' }).click();
    await inWorkspace(page);
    expect(page.url()).to.equal(`${base}/#/account/sessions`);

    const tokens = await storedSession(page);
    const query = new URLSearchParams({
      access_token: tokens!.accessToken,
      refresh_token: tokens!.refreshToken,
      expires_in: '900',
    });
    const forged = await open(`${base}/?${query}`);
    await expectText(forged, 'Continue as Ada Lovelace?');
    expect(forged.url()).to.equal(`${base}/`);
    await accessible(forged);
    await button(forged, 'Cancel').click();
    await forged.getByLabel('Email').waitFor();
    expect(await storedSession(forged)).to.equal(null);

    const broken = await open(`${base}/?access_token=x&refresh_token=y`);
    await expectText(broken, 'The server could not complete the sign-in.');
    const failed = await open(`${base}/?oauth_error=user_not_found`);
    await expectText(failed, 'Nobody with the email of that account is a member here.');
    expect(failed.url()).to.equal(`${base}/`);
  });

  it('keeps two tabs signed in, which spend no refresh token twice, and signs both out', async () => {
    const base = await start({ '--auth-jwt-expiry-seconds': '2' });
    const page = await open(base);
    await button(page, 'Sign in').click();
    await inWorkspace(page);
    const other = await open(base, { context: page.context() });
    await inWorkspace(other);

    const spent: { readonly token: string; readonly key: string | undefined }[] = [];
    // The first response is lost.
    await page.context().route('**/auth/refresh', async (route) => {
      const isFirst = spent.length === 0;
      spent.push({
        token: route.request().postDataJSON().refreshToken,
        key: route.request().headers()['idempotency-key'],
      });
      await (isFirst ? route.fetch().then(() => route.abort()) : route.continue());
    });
    await eventually(() => spent.length >= 4);
    const [first, second, ...more] = spent;
    // Under the same key, which does not count as using the token again.
    expect(second).to.deep.equal(first);
    const tokens = [second, ...more].map((each) => each?.token);
    expect(new Set(tokens).size).to.equal(tokens.length);
    for (const tab of [page, other]) {
      await tab.evaluate("location.hash = '#/account/sessions'");
      await expectText(tab, 'This browser');
    }

    // Each tab keeps an edit for itself.
    const [userKey = ''] = await other.evaluate<string[]>(
      `Object.keys(localStorage).filter(key => key.startsWith('chat.user.'))`,
    );
    const storedKeys = () => other.evaluate<string[]>('Object.keys(sessionStorage)');
    await other.evaluate(`sessionStorage.setItem('${userKey.replace(/\.[^.]*$/, '.editing')}', 'null')`);
    expect(await storedKeys()).to.have.length(1);
    await page.evaluate("location.hash = '#/account/profile'");
    await button(page, 'Sign out').click();
    await expectText(page, 'You are signed out.');
    await expectText(other, 'You are signed out.');
    expect(await storedKeys()).to.deep.equal([]);
    await page.reload();
    await button(page, 'Sign in').waitFor();
  });
});
