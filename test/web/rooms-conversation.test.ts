/** The conversation of an encrypted room as its messages tell it, and what travels inside messages and links. */
import { expect } from 'chai';
import fc from 'fast-check';
import { importWeb } from '../support/web-module.js';

interface Message {
  readonly id: string;
  readonly senderId: string;
  readonly at: number;
  readonly keyVersion: number;
  readonly chainId: string;
  readonly messageIndex: number;
  readonly result: { readonly kind: string; readonly [member: string]: unknown };
  readonly missing: number;
}
interface Entry {
  readonly kind: string;
  readonly [member: string]: unknown;
}
interface Conversation {
  readonly entries: readonly Entry[];
  readonly members: ReadonlyMap<string, { readonly name: string; readonly hasLeft: boolean }>;
  readonly title: string;
  readonly keyVersion: number;
}
interface Invite {
  readonly roomId: string;
  readonly token: string;
  readonly roomKey: string;
  readonly keyVersion: number;
  readonly by?: { readonly id: string; readonly name: string; readonly keyDigest: string };
  readonly title?: string;
}
interface Page {
  emptyConversation(keyVersion: number, title?: string): Conversation;
  addMessages(before: Conversation, messages: readonly Message[]): Conversation;
  isPresent(conversation: Conversation, id: string): boolean;
  encodeContent(content: object): Uint8Array<ArrayBuffer>;
  decodeContent(bytes: Uint8Array<ArrayBuffer>): { readonly kind: string } | undefined;
  tidy(text: string, most: number): string;
  inviteFragment(invite: Invite): string;
  fragmentOf(pasted: string): string | undefined;
  parseInvite(path: readonly string[], query: URLSearchParams): Invite | undefined;
  piecesOf(text: string): readonly { readonly kind: string; readonly text: string; readonly href?: string }[];
  duration(ms: number): string;
}

let lastId = 0;
const message = (senderId: string, result: Message['result'], keyVersion = 1, missing = 0): Message => {
  const id = `m${++lastId}`;
  return { id, senderId, at: lastId * 1000, keyVersion, chainId: 'c', messageIndex: lastId, result, missing };
};
const text = (senderId: string, words: string, keyVersion = 1) =>
  message(senderId, { kind: 'text', text: words }, keyVersion);
const hello = (senderId: string, name: string, keyVersion = 1) =>
  message(senderId, { kind: 'hello', name, agreementKey: 'k' }, keyVersion);
const rotation = (senderId: string, version: number, recipients: readonly string[]) => {
  const keys = Object.fromEntries(recipients.map((id) => [id, { nonce: 'n', ciphertext: 'c' }]));
  return message(senderId, { kind: 'rotation', keys: { version, ephemeral: 'e', keys } }, version - 1);
};
const kinds = ({ entries }: Conversation) => entries.map(({ kind, fault }) => (fault ? `${kind} ${fault}` : kind));

describe('room conversation', () => {
  let page: Page;
  before(async () => {
    const files = ['conversation', 'content', 'invite-link', 'format'];
    page = await importWeb<Page>(...files.map((name) => `rooms/${name}.ts`));
  });
  const fold = (...messages: readonly Message[]) => page.addMessages(page.emptyConversation(1), messages);

  it('is the same whether messages come together or one by one', () => {
    const people = fc.constantFrom('a', 'b', 'c');
    const any = fc.oneof(
      fc.tuple(people, fc.integer({ min: 1, max: 3 })).map(([by, version]) => text(by, 'x', version)),
      fc.tuple(people, fc.constantFrom('Ada', 'Bob')).map(([by, name]) => hello(by, name)),
      fc
        .tuple(people, fc.subarray(['a', 'b', 'c']), fc.integer({ min: 2, max: 3 }))
        .map(([by, to, version]) => rotation(by, version, to)),
      people.map((by) => message(by, { kind: 'left' })),
      people.map((by) => message(by, { kind: 'fault', fault: 'forged' })),
    );
    fc.assert(
      fc.property(fc.array(any, { maxLength: 25 }), (messages) => {
        const one = messages.reduce((before, each) => page.addMessages(before, [each]), page.emptyConversation(1));
        expect(one).to.deep.equal(fold(...messages));
      }),
    );
  });

  it('knows who joined, changed their name, and left', () => {
    const view = fold(hello('a', 'Ada'), hello('b', 'Bob'), hello('b', 'Robert'), hello('b', 'Robert'));
    expect(kinds(view)).to.deep.equal(['joined', 'joined', 'renamed']);
    const left = page.addMessages(view, [message('b', { kind: 'left' })]);
    expect(page.isPresent(left, 'a')).to.equal(true);
    expect(page.isPresent(left, 'b')).to.equal(false);
    expect(left.members.get('b')?.name).to.equal('Robert');
  });

  it('applies the first of two key changes, and rejects messages of excluded participants', () => {
    const view = fold(
      hello('a', 'Ada'),
      hello('b', 'Bob'),
      hello('e', 'Eve'),
      rotation('a', 2, ['a', 'b']),
      rotation('e', 2, ['e']),
      text('e', 'with the old key'),
      text('b', 'sent before I knew', 1),
      text('b', 'with the new key', 2),
      rotation('b', 2, ['b']),
    );
    const after = ['rotated', 'fault old-key', 'text', 'text', 'fault late-rotation'];
    expect(kinds(view).slice(3)).to.deep.equal(after);
    expect(view.entries[3]?.excluded).to.deep.equal(['e']);
    expect(view.keyVersion).to.equal(2);
    expect(['a', 'b', 'e'].map((id) => page.isPresent(view, id))).to.deep.equal([true, true, false]);
    // By a new link.
    expect(page.isPresent(page.addMessages(view, [hello('e', 'Eve', 2)]), 'e')).to.equal(true);
  });

  it('puts files together, however their parts come, and counts faults', () => {
    const part = (at: number, more = {}) =>
      message('a', { kind: 'part', fileId: 'f', part: at, parts: 3, bytes: Uint8Array.of(at), ...more });
    const file = { name: 'x.txt', type: 'text/plain', size: 3 };
    const view = fold(
      part(0, { file }),
      part(2),
      part(2),
      part(1),
      message('b', { kind: 'part', fileId: 'f', part: 1, parts: 3 }),
    );
    expect(kinds(view)).to.deep.equal(['file']);
    const { parts } = view.entries[0]!.file as { parts: readonly Uint8Array[] };
    expect(parts.map((bytes) => bytes[0])).to.deep.equal([0, 1, 2]);
    const forged = () => message('a', { kind: 'fault', fault: 'forged' });
    expect(fold(forged(), forged()).entries).to.have.length(1);
    expect(fold(message('a', { kind: 'text', text: 'x' }, 1, 2)).entries[0]).to.include({ fault: 'missing', count: 2 });
  });

  it('keeps a bounded number of entries, the newest', () => {
    const view = fold(...Array.from({ length: 5100 }, (_, at) => text('a', `n${at}`)));
    expect(view.entries).to.have.length(5000);
    expect(view.entries[0]).to.include({ text: 'n100' });
  });

  it('decodes what it encoded, and nothing else', () => {
    const contents = [
      { kind: 'hello', name: 'Ada', agreementKey: 'abc', invite: 'def' },
      { kind: 'title', title: 'Plans' },
      { kind: 'text', text: 'said\n“twice”', replyTo: 'm1' },
      { kind: 'left' },
      { kind: 'part', fileId: 'f', part: 1, parts: 2, bytes: Uint8Array.of(0, 255) },
    ];
    for (const content of contents) expect(page.decodeContent(page.encodeContent(content))).to.deep.equal(content);
    const refused = [
      { kind: 'hello', name: '', agreementKey: 'abc' },
      { kind: 'text', text: 7 },
      { kind: 'part', fileId: '../x', part: 0, parts: 1, bytes: new Uint8Array() },
      { kind: 'part', fileId: 'f', part: 1, parts: 1, bytes: new Uint8Array() },
      { kind: 'part', fileId: 'f', part: 0, parts: 1, bytes: new Uint8Array() },
      { kind: 'rotation', keys: { version: 2, ephemeral: 'e', keys: { a: {} } } },
      { kind: 'unheard of' },
    ];
    for (const content of refused) expect(page.decodeContent(page.encodeContent(content))).to.equal(undefined);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        page.decodeContent(Uint8Array.from(bytes));
      }),
    );
    expect(page.tidy('  Ada\u202e \u0000 Lovelace ', 48)).to.equal('Ada Lovelace');
    expect(page.tidy('👩‍🚀'.repeat(30), 10).length).to.be.at.most(10);
  });

  it('finds an invite in pasted text, and refuses incomplete ones', () => {
    const invite: Invite = {
      roomId: 'room_1',
      token: 'a'.repeat(32),
      roomKey: 'A'.repeat(43),
      keyVersion: 2,
      by: { id: 'ada', name: 'Ada & Co. #1?', keyDigest: 'digest' },
      title: 'Plans / 2026',
    };
    const pasted = `Hello,\nhttps://rooms.example/sub/${page.inviteFragment(invite)}\nsee you`;
    const [path = '', query = ''] = (page.fragmentOf(pasted) ?? '').replace(/^#\//, '').split('?', 2);
    const segments = path.split('/');
    expect(page.parseInvite(segments, new URLSearchParams(query))).to.deep.equal(invite);
    expect(page.fragmentOf('https://rooms.example/')).to.equal(undefined);
    for (const broken of [
      segments.slice(0, 3),
      [...segments.slice(0, 3), 'A'.repeat(42)],
      ['room', ...segments.slice(1)],
    ])
      expect(page.parseInvite(broken, new URLSearchParams(query))).to.equal(undefined);
  });

  it('formats links, code and bold text, and leaves the rest as it is', () => {
    const pieces = page.piecesOf(
      'See **this**: https://a.example/b?c=(1). `x` and\n```js\nlet y;\n```\n<b>javascript:alert(1)</b>',
    );
    expect(pieces.map(({ kind }) => kind)).to.deep.equal([
      'text',
      'strong',
      'text',
      'link',
      'text',
      'code',
      'text',
      'block',
      'text',
    ]);
    expect(pieces[3]?.href).to.equal('https://a.example/b?c=(1');
    expect(pieces[7]?.text).to.equal('let y;');
    expect(pieces[8]?.text).to.equal('<b>javascript:alert(1)</b>');
    fc.assert(
      fc.property(fc.string(), (any) => {
        expect(
          page
            .piecesOf(any.replace(/[`*]/g, ''))
            .map((piece) => piece.text)
            .join(''),
        ).to.equal(any.replace(/[`*]/g, ''));
      }),
    );
    expect([59_000, 600_000, 3_600_000, 5_400_000].map(page.duration)).to.deep.equal([
      '0:59',
      '10 min',
      '1 h',
      '1 h 30 min',
    ]);
  });
});
