/** Decoding base64 as it arrives. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createBase64 } from '../../../adapters/http/upload/base64.js';

/** Decodes a text in pieces of these lengths. */
function decoded(text: string, lengths: readonly number[] = []): Buffer | undefined {
  const base64 = createBase64();
  const pieces: Buffer[] = [];
  let rest = Buffer.from(text, 'latin1');
  for (const length of [...lengths, rest.length]) {
    const bytes = base64.push(rest.subarray(0, length));
    if (!bytes) return undefined;
    pieces.push(bytes);
    rest = rest.subarray(length);
  }
  const last = base64.end();
  return last && Buffer.concat([...pieces, last]);
}

const bytes = fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each));
const lengths = fc.array(fc.nat(20), { maxLength: 30 });

describe('incremental base64 decoder', () => {
  it('decodes padded and unpadded texts and data URLs, in pieces of any size', () => {
    const prefix = fc.constantFrom('', 'data:image/png;base64,', 'data:;base64,', 'DATA:a/b;charset=utf-8;BASE64,');
    fc.assert(
      fc.property(bytes, lengths, prefix, fc.boolean(), (plain, pieces, before, isPadded) => {
        const text = plain.toString('base64');
        const found = decoded(before + (isPadded ? text : text.replace(/=+$/, '')), pieces);
        expect(found?.equals(plain)).to.equal(true);
      }),
    );
  });

  it('rejects invalid base64, in pieces of any size', () => {
    const wrong = ['!', 'AAA!', 'AA AA', 'A', 'AAAAA', 'AA=', 'AAA==', 'AAAA=', 'AA==AA==', '====', '=', 'A-_A']
      .concat(['data:text/plain,hello', 'data:image/png;base64', 'data:', 'data:image/png;base64,!', '\u00e9AAA'])
      .concat([`data:${'x'.repeat(300)};base64,AAAA`]);
    fc.assert(
      fc.property(fc.constantFrom(...wrong), lengths, (text, pieces) => {
        expect(decoded(text, pieces), text).to.equal(undefined);
      }),
    );
  });

  it('decodes an empty text to nothing', () => expect(decoded('')).to.deep.equal(Buffer.alloc(0)));
});
