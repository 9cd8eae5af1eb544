/** Signed notes and checkpoints: the example of Go's note package, own signatures, and everything malformed. */
import { expect } from 'chai';
import { openCheckpoint, parseCheckpoint, signCheckpoint } from '../../../application/audit/checkpoint.js';
import {
  createSigner,
  isKeyName,
  parseNote,
  parseVerifier,
  signNote,
  verifiedBy,
} from '../../../application/audit/signed-note.js';

const VERIFIER = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const NOTE =
  'If you think cryptography is the answer to your problem,\n' +
  "then you don't know what your problem is.\n\n" +
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n';
const signer = createSigner('example.com/annals', Buffer.alloc(32, 1));
const other = createSigner('example.com/annals', Buffer.alloc(32, 2));

const verified = (text: string, line: string) => {
  const [note, verifier] = [parseNote(text), parseVerifier(line)];
  return note && verifier ? verifiedBy(note, [verifier]).length : undefined;
};

describe('a signed note', () => {
  it('of another implementation is verified with its key', () => {
    expect(verified(NOTE, VERIFIER)).to.equal(1);
    expect(verified(NOTE.replace('answer', 'Answer'), VERIFIER)).to.equal(0);
  });

  it('is verified with the key of its signer only', () => {
    const note = signNote('a text\n\nof two parts\n', [signer]);
    expect(parseNote(note)?.text).to.equal('a text\n\nof two parts\n');
    expect(verified(note, signer.verifier.line)).to.equal(1);
    expect(verified(note, other.verifier.line)).to.equal(0);
    expect(verified(signNote('a text\n', [signer, other]), other.verifier.line)).to.equal(1);
  });

  it('is verified by nobody if a signature of a known key is invalid', () => {
    const [valid, invalid] = [signNote('a text\n', [signer]), signNote('another\n', [other])];
    const note = `${valid}${invalid.slice(invalid.indexOf('—'))}`;
    expect(verifiedBy(parseNote(note)!, [signer.verifier, other.verifier])).to.deep.equal([]);
    expect(verifiedBy(parseNote(note)!, [signer.verifier])).to.have.length(1);
  });

  it('is not parsed if it is malformed', () => {
    for (const note of [
      '',
      'a text\n',
      'a text\n\n',
      `${NOTE} `,
      NOTE.replace('— ', '- '),
      `${NOTE}${'x'.repeat(9)}\n`,
    ])
      expect(parseNote(note), note).to.equal(undefined);
  });

  it('has no keys with malformed lines or names', () => {
    const { line } = signer.verifier;
    expect(parseVerifier(`${line}\n`)?.line).to.equal(line);
    for (const each of ['', 'a+b', line.replace('example', 'Example'), line.slice(0, -4), line.replace('+A', '+B')])
      expect(parseVerifier(each), each).to.equal(undefined);
    expect(['a+b', 'a b', '', 'a\u0000'].filter(isKeyName)).to.deep.equal([]);
  });
});

describe('a checkpoint', () => {
  const checkpoint = { origin: 'example.com/annals', size: 17, root: Buffer.alloc(32, 7) };

  it('has its lines in order, and is opened with its key', () => {
    const text = signCheckpoint(checkpoint, [signer]);
    expect(text.split('\n').slice(0, 4)).to.deep.equal([
      'example.com/annals',
      '17',
      'BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=',
      '',
    ]);
    expect(openCheckpoint(text, [other.verifier, signer.verifier])).to.deep.include(checkpoint);
    expect(openCheckpoint(text, [other.verifier])).to.equal(undefined);
  });

  it('is not opened if a key of another name has signed it', () => {
    const stranger = createSigner('example.org/stranger', Buffer.alloc(32, 3));
    expect(openCheckpoint(signCheckpoint(checkpoint, [stranger]), [stranger.verifier])).to.equal(undefined);
  });

  it('is not parsed if it is malformed', () => {
    const text = signCheckpoint(checkpoint, [signer]);
    expect(parseCheckpoint(text)).to.not.equal(undefined);
    const unpadded = `${text}— witness.example ${Buffer.alloc(76).toString('base64').replace(/=+$/, '')}\n`;
    expect(parseCheckpoint(unpadded)).to.equal(undefined);
    for (const malformed of [text.replace('17', '017'), text.replace('17', '-1'), text.replace('Bwc=', 'Bwc'), ''])
      expect(parseCheckpoint(malformed), malformed).to.equal(undefined);
  });
});
