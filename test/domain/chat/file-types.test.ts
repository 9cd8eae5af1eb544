/** File types and names: allowed extensions and their signatures. */
import { expect } from 'chai';
import fc from 'fast-check';
import { fileIdOf, storedName } from '../../../domain/chat/events/files.js';
import { fitsType, imageTypeOf, typeOf } from '../../../domain/chat/file-types.js';
import { extensionOf, HEAD_BYTES, tidyFileName } from '../../../domain/shared/index.js';
import { FILE, SAMPLES } from '../../support/chat-fixtures.js';

const FILES = ['pdf', 'txt', 'md', 'markdown', 'csv', 'json', 'zip'].concat([
  'doc',
  'docx',
  'xls',
  'xlsx',
  'ppt',
  'pptx',
]);
const IMAGES = ['jpg', 'jpeg', 'png', 'webp', 'svg'];
/** Types with a signature; other bytes are rejected. */
const SIGNED = [...FILES, ...IMAGES].filter((each) => !['txt', 'md', 'markdown', 'csv', 'json'].includes(each));

const OPEN_XML = ['docx', 'xlsx', 'pptx'];
const COMPOUND = ['doc', 'xls', 'ppt'];

const text = (content: string) => Buffer.from(content);

describe('file types', () => {
  it('are allowed by purpose: documents as files, pictures as images', () => {
    for (const each of FILES) {
      expect(typeOf(each, 'file'), each).to.be.a('string');
      expect(typeOf(each, 'image'), each).to.equal(undefined);
    }
    for (const each of IMAGES) {
      expect(typeOf(each, 'image'), each).to.match(/^image\//);
      expect(typeOf(each, 'file'), each).to.equal(undefined);
    }
    for (const each of ['html', 'htm', 'exe', 'js', 'xhtml', 'gif', 'constructor', '__proto__', ''])
      for (const purpose of ['file', 'image'] as const) expect(typeOf(each, purpose), each).to.equal(undefined);
  });

  it('are never HTML', () => {
    for (const each of [...FILES, ...IMAGES])
      expect(typeOf(each, 'file') ?? typeOf(each, 'image')).not.to.match(/html|javascript/);
  });

  it('match the signatures of their samples', () => {
    for (const [each, bytes] of Object.entries(SAMPLES)) expect(fitsType(each, bytes), each).to.equal(true);
  });

  it('reject other signatures', () => {
    const html = text('<!DOCTYPE html><script>alert(1)</script>');
    for (const each of SIGNED) {
      expect(fitsType(each, html), each).to.equal(false);
      expect(fitsType(each, Buffer.alloc(0)), each).to.equal(false);
      for (const [other, bytes] of Object.entries(SAMPLES))
        if (typeOf(other, 'file') !== typeOf(each, 'file') || IMAGES.includes(each) !== IMAGES.includes(other))
          if (!bytes.equals(SAMPLES[each]!))
            expect(fitsType(each, bytes), `${other} as ${each}`).to.equal(mayShareSignature(each, other));
    }
  });

  it('accept password-protected Office Open XML, which is a compound file, but not in archives', () => {
    const encrypted = Buffer.from('d0cf11e0a1b11ae1', 'hex');
    for (const each of OPEN_XML) expect(fitsType(each, encrypted), each).to.equal(true);
    for (const each of ['zip', 'pdf', 'txt', 'png']) expect(fitsType(each, encrypted), each).to.equal(false);
  });

  it('reject a signature that is not at the start', () => {
    for (const each of SIGNED) expect(fitsType(each, Buffer.concat([text('x'), SAMPLES[each]!])), each).to.equal(false);
    expect(fitsType('png', text('GIF89a/*'))).to.equal(false);
    expect(fitsType('pdf', text('<html>%PDF-1.7'))).to.equal(false);
  });

  it('reject binary content as text', () => {
    for (const each of ['txt', 'md', 'csv', 'json']) {
      for (const other of SIGNED.filter((one) => one !== 'svg'))
        expect(fitsType(each, SAMPLES[other]!), `${other} as ${each}`).to.equal(false);
      expect(fitsType(each, Buffer.from('4d5a90000300', 'hex')), 'a program').to.equal(false);
    }
    expect(fitsType('txt', text('MZ is where he lives'))).to.equal(true);
    expect(fitsType('txt', Buffer.from('fffe480069000000', 'hex'))).to.equal(true);
  });

  it('accept SVG after an XML prolog, and no other documents', () => {
    const good = [
      '\ufeff<svg>',
      '<?xml version="1.0"?>\n<!-- drawn -->\n<svg viewBox="0 0 1 1">',
      '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg/>',
      '<svg:svg xmlns:svg="http://www.w3.org/2000/svg">',
    ];
    const bad = ['<html><svg/></html>', '<!DOCTYPE html><svg/>', 'x<svg/>', '<svgx>', '<!-- <svg> --><p>', ''];
    for (const each of good) expect(fitsType('svg', text(each)), each).to.equal(true);
    for (const each of bad) expect(fitsType('svg', text(each)), each).to.equal(false);
  });

  it('reject an SVG of only comment openings in linear time', () => {
    for (const each of ['<!--', '<?', '<!DOCTYPE svg [', '<!---->', ' '])
      expect(fitsType('svg', text(each.repeat(HEAD_BYTES)).subarray(0, HEAD_BYTES)), each).to.equal(false);
  });

  it('detect the image type of a thumbnail', () => {
    expect(['jpg', 'png', 'webp', 'svg', 'pdf'].map((each) => imageTypeOf(SAMPLES[each]!))).to.deep.equal([
      'image/jpeg',
      'image/png',
      'image/webp',
      'image/svg+xml',
      undefined,
    ]);
  });
});

/** Whether files of one type may start like samples of the other: archives, or the two kinds of Office files. */
function mayShareSignature(one: string, other: string): boolean {
  const kinds = [['zip', ...OPEN_XML], COMPOUND, ['jpg', 'jpeg']];
  if (OPEN_XML.includes(one) && COMPOUND.includes(other)) return true;
  return kinds.some((kind) => kind.includes(one) && kind.includes(other));
}

describe('file names', () => {
  it('are the last path segment without control and bidi characters', () => {
    const tidy = {
      'plan.pdf': 'plan.pdf',
      ' Plan für Mai.PDF ': 'Plan für Mai.PDF',
      '../../etc/passwd.txt': 'passwd.txt',
      'C:\\temp\\plan.pdf': 'plan.pdf',
      'plan\u0000.pdf': 'plan.pdf',
      'a\r\nb.txt': 'ab.txt',
      'invoice\u202efdp.txt': 'invoicefdp.txt',
      'half\ud800.txt': 'half.txt',
    };
    for (const [name, expected] of Object.entries(tidy)) expect(tidyFileName(name)).to.equal(expected);
    for (const name of ['', ' ', '/', 'a/', '..\\', `${'x'.repeat(252)}.txt`])
      expect(tidyFileName(name), name).to.equal(undefined);
  });

  it('have an extension after a non-empty name, in any case', () => {
    expect(['a.PDF', 'a.tar.zip', 'a.b'].map(extensionOf)).to.deep.equal(['pdf', 'zip', 'b']);
    for (const name of ['pdf', '.pdf', 'a.', 'a.pdf.', 'a.p df', 'a..pdf', 'a.pdf '])
      expect(extensionOf(name), name).to.equal(undefined);
  });

  it('contain the file id if they are stored names', () => {
    expect(fileIdOf(storedName(1_767_225_600_000, FILE, 'pdf'))).to.equal(FILE);
    for (const name of [`1-${FILE}`, `${FILE}.pdf`, `1-${FILE}.pdf/..`, `../1-${FILE}.pdf`, '', '1-x.pdf'])
      expect(fileIdOf(name), name).to.equal(undefined);
  });

  it('are normalized idempotently and never contain a path', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const tidy = tidyFileName(name);
        if (tidy === undefined) return;
        expect(tidyFileName(tidy)).to.equal(tidy);
        expect(tidy).not.to.match(/[/\\\p{Cc}]/u);
      }),
    );
  });
});
