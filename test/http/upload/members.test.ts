/** Extracting large members from JSON as it arrives. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createMemberScanner, RestTooLarge } from '../../../adapters/http/upload/json-member-scanner.js';

interface Scanned {
  /** The remaining document, parsed; undefined where it is invalid JSON. */
  readonly rest: unknown;
  readonly found: readonly (readonly [name: string, text: string])[];
}

async function scanned(json: string, lengths: readonly number[] = [], maxRest = 10_000): Promise<Scanned> {
  const found: [string, string][] = [];
  const scanner = createMemberScanner(
    ['file', 'thumb'],
    {
      begin: async (name) => void found.push([name, '']),
      async text(piece) {
        found.at(-1)![1] += piece.toString('latin1');
      },
      async end() {},
    },
    maxRest,
  );
  let remaining = Buffer.from(json);
  for (const length of [...lengths, remaining.length]) {
    await scanner.feed(remaining.subarray(0, length));
    remaining = remaining.subarray(length);
  }
  const rest = scanner.rest().toString();
  try {
    return { rest: JSON.parse(rest), found };
  } catch {
    return { rest: undefined, found };
  }
}

const lengths = fc.array(fc.nat(12), { maxLength: 60 });
const large = fc.stringMatching(/^[A-Za-z0-9+/=]{0,60}$/);

/** The same JSON with escapes that some programs write. */
const escaped = (json: string, how: string): string =>
  how === 'php' ? json.replaceAll('/', '\\/') : how === 'dotnet' ? json.replaceAll('+', '\\u002B') : json;

describe('JSON member scanner', () => {
  it('streams large members, and leaves empty strings in an otherwise unchanged document', async () => {
    // Replacing plus signs must not change exponents of numbers.
    const other = fc.jsonValue({ maxDepth: 3 }).filter((value) => !JSON.stringify(value).includes('e+'));
    const members = fc.shuffledSubarray(['file', 'thumb', 'a', 'b', 'nested'], { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(
        members,
        large,
        large,
        other,
        lengths,
        fc.constantFrom('', 'php', 'dotnet'),
        fc.constantFrom(0, 2),
        async (names, file, thumb, any, pieces, how, indent) => {
          const values: { [name: string]: unknown } = {
            file,
            thumb,
            a: any,
            b: 'b"\\',
            nested: { file, thumb: [file] },
          };
          const body = Object.fromEntries(names.map((name) => [name, values[name]]));
          const { rest, found } = await scanned(escaped(JSON.stringify(body, null, indent), how), pieces);
          const texts: readonly string[] = names.filter((name) => name === 'file' || name === 'thumb');
          expect(Object.fromEntries(found)).to.deep.equal(
            Object.fromEntries(texts.map((name) => [name, values[name]])),
          );
          const remaining = Object.fromEntries(names.map((name) => [name, texts.includes(name) ? '' : values[name]]));
          expect(rest).to.deep.equal(JSON.parse(JSON.stringify(remaining)));
        },
      ),
    );
  });

  it('recognises escaped member names', async () => {
    expect(await scanned('{"\\u0066ile":"AAAA"}')).to.deep.equal({
      rest: { file: '' },
      found: [['file', 'AAAA']],
    });
  });

  it('ignores members that are not strings or are nested', async () => {
    const ignored = ['{"file":1}', '{"file":null,"a":"file"}', '{"file":["AAAA"]}', '["file","AAAA"]', '"file"'];
    for (const json of ignored) expect(await scanned(json)).to.deep.equal({ rest: JSON.parse(json), found: [] });
  });

  it('leaves invalid JSON invalid', async () => {
    for (const json of ['{"file":"AAAA"', '{"file" "AAAA"}', '["file":"AAAA"]', '{"file":"AAAA"}}', '{"file":"AA', ''])
      expect((await scanned(json)).rest, json).to.equal(undefined);
  });

  it('replaces characters outside base64, however escaped, with an invalid one, and drops line breaks', async () => {
    for (const each of ['\\"', '\\\\', '\\t', '\\u0000', '\\u00e9', '\\uD83D', '\\x', '\\u00zz'])
      expect((await scanned(`{"file":"AA${each}AA"}`)).found).to.deep.equal([['file', 'AA!AA']]);
    expect((await scanned('{"file":"AA\\r\\n\\u000AAA"}')).found).to.deep.equal([['file', 'AAAA']]);
  });

  it('limits the size of the remaining document', async () => {
    const refused = await scanned(JSON.stringify({ a: 'x'.repeat(200) }), [], 100).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(RestTooLarge);
    expect((await scanned(JSON.stringify({ file: 'A'.repeat(400) }), [], 100)).rest).to.deep.equal({
      file: '',
    });
  });
});
