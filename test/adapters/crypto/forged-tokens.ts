/** Texts that lenient decoders take for the same JWT. */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Tokens with characters after the signature, more segments, or other unused bits in its last character. */
export function alteredTokens(token: string): readonly string[] {
  const last = token.at(-1)!;
  // 32 bytes leave two bits of the 43rd character unused.
  const sameBytes = ALPHABET[ALPHABET.indexOf(last) ^ 1]!;
  const extra = ['A', 'AAAA', '=', '.', '.AAAA', '!', '%20', '~'];
  return [...extra.map((each) => token + each), token.slice(0, -1) + sameBytes, `.${token}`, `=${token}`];
}
