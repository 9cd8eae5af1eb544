/** What the chat page reads in texts: marks, links, mentions, and mentions being typed. */
import { expect } from 'chai';
import { importWeb } from '../support/web-module.js';

interface Span {
  readonly kind: string;
  readonly text?: string;
  readonly href?: string;
  readonly id?: string;
  readonly spans?: readonly Span[];
}
interface Block {
  readonly kind: string;
  readonly text?: string;
  readonly language?: string;
  readonly spans?: readonly Span[];
}
interface User {
  readonly id: string;
  readonly userName: string;
}
interface TextModule {
  parseContent(content: string, names?: ReadonlyMap<string, string>): readonly Block[];
  plainText(content: string): string;
  mentionQuery(content: string, caret: number): { readonly start: number; readonly text: string } | undefined;
  mentionOptions(users: readonly User[], typed: string, withEveryone: boolean): readonly { readonly name: string }[];
  completeMention(content: string, query: object, name: string, caret: number): { text: string; caret: number };
  checkFile(file: { name: string; type: string; size: number }): object;
}

describe('texts of the chat page', () => {
  let chat: TextModule;
  before(async () => {
    chat = await importWeb<TextModule>('chat/state/format.ts', 'chat/state/completion.ts', 'chat/state/file-kinds.ts');
  });

  /** One line of marks, for example `strong(bold) plain`. */
  const shown = (spans: readonly Span[] = []): string =>
    spans
      .map((span) => (span.kind === 'text' ? span.text : `${span.kind}(${span.text ?? shown(span.spans)})`))
      .join('');
  const line = (content: string, names?: ReadonlyMap<string, string>) =>
    shown(chat.parseContent(content, names)[0]?.spans);

  it('marks code, bold, italic and struck text, and leaves everything else as it is', () => {
    expect(line('**bold** *it* _it_ ~~no~~ `a*b*`')).to.equal(
      'strong(bold) emphasis(it) emphasis(it) struck(no) code(a*b*)',
    );
    for (const plain of ['2 * 3 * 4', 'snake_case_name', '**', 'a ** b', '<img src=x onerror=alert(1)>', '5*5=25*1'])
      expect(line(plain)).to.equal(plain);
  });

  it('reads as one line without marks in previews', () => {
    expect(
      chat.plainText('The **plan**:\n- *ship* the ~~beta~~ `a_b`\n> quoted\n```ts\nlet a;\n```\n2 * 3 * 4'),
    ).to.equal('The plan: - ship the beta a_b quoted let a; 2 * 3 * 4');
  });

  it('links addresses without the punctuation around them', () => {
    expect(line('see https://a.example/x?y=1#z, or (https://b.example/w(1)).')).to.equal(
      'see link(https://a.example/x?y=1#z), or (link(https://b.example/w(1))).',
    );
    expect(line('mail ada@a.example now')).to.equal('mail link(ada@a.example) now');
    expect(line('javascript:alert(1)')).to.equal('javascript:alert(1)');
  });

  it('marks the longest mentioned name, without regard to case', () => {
    const names = new Map([
      ['ann', 'u1'],
      ['ann lee', 'u2'],
      ['channel', '@channel'],
    ]);
    expect(line('@Ann Lee, @ANN! (@channel) @annika x@ann', names)).to.equal(
      'mention(@Ann Lee), mention(@ANN)! (mention(@channel)) @annika x@ann',
    );
  });

  it('separates blocks of code and quotes from paragraphs', () => {
    const blocks = chat.parseContent('before\n```ts\nlet *a*;\n\n```\n> quoted\n> twice\nafter');
    expect(blocks.map(({ kind, text, spans }) => [kind, text ?? shown(spans)])).to.deep.equal([
      ['paragraph', 'before'],
      ['code', 'let *a*;\n'],
      ['quote', 'quoted\ntwice'],
      ['paragraph', 'after'],
    ]);
    expect(chat.parseContent('```\nnot closed')).to.deep.equal([{ kind: 'code', text: 'not closed', language: '' }]);
  });

  it('reads long hostile texts quickly', () => {
    const started = performance.now();
    for (const unit of ['*a', '**', '_a ', '`', '~~a', '@a ', '> ', 'https://', '(((', '```\n'])
      chat.parseContent(unit.repeat(8000 / unit.length));
    expect(performance.now() - started).to.be.lessThan(2000);
  });

  it('completes the mention before the caret', () => {
    const users = [
      { id: '1', userName: 'Mira Okafor' },
      { id: '2', userName: 'Amir' },
      { id: '3', userName: 'José' },
    ];
    const typed = 'hi @mir there';
    const query = chat.mentionQuery(typed, 7);
    expect(query).to.deep.equal({ start: 3, text: 'mir' });
    expect(chat.mentionOptions(users, 'mir', false).map(({ name }) => name)).to.deep.equal(['Mira Okafor', 'Amir']);
    expect(chat.mentionOptions(users, 'jose', true).map(({ name }) => name)).to.deep.equal(['José']);
    expect(chat.mentionOptions(users, 'ch', true).map(({ name }) => name)).to.deep.equal(['channel']);
    expect(chat.completeMention(typed, query ?? {}, 'Mira Okafor', 7)).to.deep.equal({
      text: 'hi @Mira Okafor there',
      caret: 16,
    });
    expect(chat.mentionQuery('mail@host', 9)).to.equal(undefined);
  });

  it('takes the files that the service takes', () => {
    const check = (name: string, type = '', size = 10) => chat.checkFile({ name, type, size });
    expect(check('Plan.PDF')).to.deep.equal({ kind: 'file', name: 'Plan.PDF' });
    expect(check('image', 'image/png')).to.deep.equal({ kind: 'image', name: 'image.png' });
    expect(check('run.exe')).to.deep.equal({ kind: 'refused', reason: 'type' });
    expect(check('a.txt', '', 0)).to.deep.equal({ kind: 'refused', reason: 'empty' });
    expect(check('a.png', '', 11 * 1024 * 1024)).to.deep.equal({ kind: 'refused', reason: 'image-size' });
  });
});
