/** Signing in and administration on the chat's page: what needs no browser. */
import { expect } from 'chai';
import { importWeb } from '../support/web-module.js';

interface Names {
  readonly users: ReadonlyMap<string, string>;
  readonly channels: ReadonlyMap<string, string>;
}
interface AccountModule {
  readEntry(address: { readonly pathname: string; readonly search: string }): object | undefined;
  deviceOf(userAgent: string): { readonly browser: string | undefined; readonly system: string | undefined };
  curlExample(address: string, token: string, content: string): string;
  actorOf(entry: object, names: Names): string;
  targetOf(entry: object, names: Names): string | undefined;
  detailsOf(entry: object, names: Names): readonly (readonly [string, string])[];
}

const names: Names = { users: new Map([['u1', 'Ada']]), channels: new Map([['c1', 'General']]) };

describe('account and administration of the chat page', () => {
  let page: AccountModule;
  before(async () => {
    page = await importWeb<AccountModule>(
      'chat/sign-in/read-entry.ts',
      'chat/account/device.ts',
      'chat/admin/curl-example.ts',
      'chat/admin/audit-entry.ts',
    );
  });

  const entryOf = (address: string) => page.readEntry(new URL(address, 'http://chat.example'));

  it('reads links of mails and answers of providers from the address', () => {
    expect(entryOf('/')).to.equal(undefined);
    expect(entryOf('/reset')).to.equal(undefined);
    expect(entryOf('/?token=t&email=ada%40example.org')).to.deep.equal({
      kind: 'link',
      token: 't',
      email: 'ada@example.org',
    });
    expect(entryOf('/chat/reset?token=t')).to.deep.equal({ kind: 'set-password', token: 't', email: undefined });
    expect(entryOf('/?access_token=a&refresh_token=r&expires_in=900')).to.deep.equal({
      kind: 'tokens',
      tokens: { accessToken: 'a', refreshToken: 'r', exp: 900 },
    });
    expect(entryOf('/?access_token=a')).to.equal(undefined);
    expect(entryOf('/?oauth_error=access_denied&token=t')).to.deep.equal({
      kind: 'oauth-error',
      code: 'access_denied',
    });
  });

  it('names browsers and systems', () => {
    const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
    for (const [userAgent, browser, system] of [
      [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0 Safari/537.36 Edg/140.0`, 'Edge', 'Windows'],
      [`Mozilla/5.0 (Linux; Android 15) ${webkit} Chrome/140.0 Mobile Safari/537.36`, 'Chrome', 'Android'],
      ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox', 'Linux'],
      [
        `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${webkit} Version/18.0 Safari/604.1`,
        'Safari',
        'iPhone',
      ],
      ['curl/8.5.0', 'curl', undefined],
      ['', undefined, undefined],
    ] as const)
      expect(page.deviceOf(userAgent), userAgent).to.deep.equal({ browser, system });
  });

  it('quotes the example for a shell', () => {
    const example = page.curlExample('http://chat.example/webhooks/w/messages', 'abc', "it's done");
    expect(example.split(' \\\n  ')).to.deep.equal([
      "curl -X POST 'http://chat.example/webhooks/w/messages'",
      "-H 'Authorization: Bearer abc'",
      "-H 'Content-Type: application/json'",
      `-d '{"content":"it'\\''s done"}'`,
    ]);
  });

  it('shows entries of the audit log with names, also those about deleted subjects', () => {
    const created = {
      actorId: 'u1',
      targetType: 'channel',
      targetId: 'c2',
      metadata: { name: 'Plans', isPrivate: true, members: ['u1', 'u9'] },
    };
    expect(page.actorOf(created, names)).to.equal('Ada');
    expect(page.targetOf(created, names)).to.equal('Plans');
    expect(page.detailsOf(created, names)).to.deep.equal([
      ['private', 'yes'],
      ['members', 'Ada, u9'],
    ]);
    const removed = { actorId: 'system', targetType: 'user', targetId: 'u9', metadata: {} };
    expect(page.actorOf(removed, names)).to.equal('System');
    expect(page.targetOf(removed, names)).to.equal('A former member');
    expect(page.detailsOf(removed, names)).to.deep.equal([['id', 'u9']]);
    const deleted = {
      actorId: 'UVBGLhikmAKrsNq8lGpYGA',
      targetType: 'message',
      targetId: 'm',
      metadata: { channelId: 'c1', author: 'u1' },
    };
    expect(page.actorOf(deleted, names)).to.equal('A former member');
    expect(page.targetOf(deleted, names)).to.equal(undefined);
    expect(page.detailsOf(deleted, names)).to.deep.equal([
      ['channel', 'General'],
      ['author', 'Ada'],
    ]);
  });
});
