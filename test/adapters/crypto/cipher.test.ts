/** Sealing of bytes, and keyed digests. */
import { expect } from 'chai';
import { aes256gcm } from '../../../adapters/crypto/cipher.js';

describe('the cipher', () => {
  const [key, other] = [aes256gcm.newKey(), aes256gcm.newKey()];
  const bytes = Buffer.from('a few bytes, none of which may be read');

  it('opens bytes under their key only and never produces the same ciphertext twice', () => {
    const sealed = aes256gcm.sealBytes(key, bytes);
    expect(Buffer.from(aes256gcm.openBytes(key, sealed))).to.deep.equal(bytes);
    expect(Buffer.from(sealed).includes('bytes')).to.equal(false);
    expect(aes256gcm.sealBytes(key, bytes)).to.not.deep.equal(sealed);
    expect(() => aes256gcm.openBytes(other, sealed)).to.throw();
  });

  it('never reuses a nonce', () => {
    const nonces = Array.from({ length: 2000 }, () =>
      Buffer.from(aes256gcm.sealBytes(key, bytes)).subarray(0, 12).toString('hex'),
    );
    expect(new Set(nonces).size).to.equal(2000);
  });

  it('rejects modified or truncated bytes', () => {
    const sealed = Buffer.from(aes256gcm.sealBytes(key, bytes));
    expect(() => aes256gcm.openBytes(key, sealed.subarray(0, -1))).to.throw();
    expect(() => aes256gcm.openBytes(key, sealed.subarray(0, 8))).to.throw('too short');
    sealed[20]! ^= 1;
    expect(() => aes256gcm.openBytes(key, sealed)).to.throw();
  });

  it('computes equal digests for equal text, key and purpose, and different ones otherwise', () => {
    const digest = aes256gcm.digester(key, 'ids')('4711');
    expect(digest).to.match(/^[0-9a-f]{64}$/);
    expect(aes256gcm.digester(key, 'ids')('4711')).to.deep.equal(digest);
    expect(aes256gcm.digester(key, 'ids')('4712')).to.not.deep.equal(digest);
    expect(aes256gcm.digester(key, 'names')('4711')).to.not.deep.equal(digest);
    expect(aes256gcm.digester(other, 'ids')('4711')).to.not.deep.equal(digest);
  });
});
