/** What stands in a directory, whatever it is: to look for what must not be in it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Those of its folders too. */
export const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

export const bytesIn = (directory: string): Buffer =>
  Buffer.concat(filesIn(directory).map((file) => readFileSync(file)));

/**
 * Those of the texts that stand in the bytes: in clear, or in base64, wherever it begins. Long ones only: a few letters
 * turn up by chance in a megabyte of ciphertext.
 */
export const shownIn = (bytes: Buffer, texts: readonly string[]): string[] =>
  texts.filter((text) => {
    const encoded = [0, 1, 2].map((shift) =>
      Buffer.from(' '.repeat(shift) + text)
        .toString('base64')
        .slice(shift + 1, -4),
    );
    return [text, ...encoded].some((form) => bytes.includes(form));
  });
