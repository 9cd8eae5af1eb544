/** Validates file names sent by clients and builds stored names. */

const FILE_NAME_LENGTH = 255;

const STORED = /^\d{1,15}-([\w-]{22})\.[a-z]{2,8}$/;
const EXTENSION = /^(?<base>.*[^.])\.(?<extension>[A-Za-z]{1,8})$/s;
/** Control characters, lone surrogates, and bidirectional controls that would disguise a name. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** Last part of a path, cleaned for display; undefined when blank or too long. */
export function tidyFileName(name: string): string | undefined {
  const last = name
    .replace(/^.*[/\\]/s, '')
    .replace(UNSEEN, '')
    .normalize('NFC')
    .trim();
  return last !== '' && [...last].length <= FILE_NAME_LENGTH ? last : undefined;
}

/** Lower-case extension; undefined without one or without a base name. */
export const extensionOf = (name: string): string | undefined => EXTENSION.exec(name)?.groups?.extension?.toLowerCase();

/** Stored name of a file uploaded at `now` (Unix ms). */
export const storedName = (now: number, fileId: string, extension: string): string => `${now}-${fileId}.${extension}`;

export const fileIdOf = (stored: string): string | undefined => STORED.exec(stored)?.[1];
