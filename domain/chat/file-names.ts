/** Names of files: what a client may call one, and what it is stored as. */

/** Characters of an original name. */
const FILE_NAME_LENGTH = 255;

const STORED = /^\d{1,15}-([\w-]{22})\.[a-z]{2,8}$/;
const EXTENSION = /^(?<base>.*[^.])\.(?<extension>[A-Za-z]{1,8})$/s;
/** What no name needs: controls, halves of characters, and what turns around what stands after it. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** The last part of a path, as it can be shown to people; undefined for one that is blank or too long. */
export function tidyFileName(name: string): string | undefined {
  const last = name
    .replace(/^.*[/\\]/s, '')
    .replace(UNSEEN, '')
    .normalize('NFC')
    .trim();
  return last !== '' && [...last].length <= FILE_NAME_LENGTH ? last : undefined;
}

/** In lower case; undefined where there is none, or nothing before it. */
export const extensionOf = (name: string): string | undefined => EXTENSION.exec(name)?.groups?.extension?.toLowerCase();

/** What a file is stored as that was uploaded at `now` (Unix ms). */
export const storedName = (now: number, fileId: string, extension: string): string => `${now}-${fileId}.${extension}`;

/** Which file is stored by a name, if any could be. */
export const fileIdOf = (stored: string): string | undefined => STORED.exec(stored)?.[1];
