/** Mentions in message text. */
import { expect } from 'chai';
import fc from 'fast-check';
import { mentionsOf, nameKey } from '../../../domain/chat/names.js';

const names = ['Ada', 'Ada Lovelace', 'bob', 'J.R.', 'Zoë', 'x-ray', '李'];
const ids = new Map(names.map((name) => [nameKey(name), name]));
const of = (content: string) => mentionsOf(content, (key) => ids.get(key));

describe('mentions', () => {
  for (const [content, ...expected] of [
    ['@ada', 'Ada'],
    ['hello @ADA and @Bob', 'Ada', 'bob'],
    ['(@bob) [@zoë] {@李} <@x-ray>', 'bob', 'Zoë', '李', 'x-ray'],
    ['@ada, @bob! @zoë?', 'Ada', 'bob', 'Zoë'],
    ['@bob... @ada;', 'bob', 'Ada'],
    ['"quoted" @ada"', 'Ada'],
    ["@ada's book", 'Ada'],
    ['@ada lovelace wrote it', 'Ada Lovelace'],
    ['@ada lovelaces', 'Ada'],
    ['@J.R. shot', 'J.R.'],
    ['line\n@bob\n', 'bob'],
    ['@bob @bob @BOB', 'bob'],
    ['@channel @Here!', '@channel', '@here'],
    ['mail ada@bob.example'],
    ['x@bob'],
    ['@bobby @ada.example @bob-by @bob_'],
    ['@ ada'],
    ['@nobody', ...[]],
    ['@', ...[]],
  ] as const)
    it(`of ${JSON.stringify(content)} are ${expected.join(', ') || 'none'}`, () =>
      expect(of(content)).to.deep.equal(expected));

  it('are limited and found in linear time for any text', () => {
    let lookups = 0;
    const find = () => {
      lookups++;
      return undefined;
    };
    for (const text of ['@a '.repeat(2666), '@ '.repeat(4000), `@${'a.'.repeat(4000)}`, '@'.repeat(8000)])
      mentionsOf(text, find);
    expect(lookups).to.be.at.most(4 * 200 * 16);
  });

  it('match every user name exactly, in any case', () => {
    const name = fc
      .stringMatching(/^[\p{L}\p{N}][\p{L}\p{N} .-]{0,20}[\p{L}\p{N}]$/u)
      .map((each) => each.normalize('NFC'));
    fc.assert(
      fc.property(name, (each) => {
        const find = (key: string) => (key === nameKey(each) ? 'id' : undefined);
        if (['channel', 'here'].includes(nameKey(each))) return;
        expect(mentionsOf(`hi @${each}`, find)).to.deep.equal(['id']);
        expect(mentionsOf(`(@${each}), all`, find)).to.deep.equal(['id']);
      }),
    );
  });
});
