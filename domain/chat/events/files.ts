/** Events of files and images; the bytes are stored outside the log. */
import { count, type DataOf, event, id, none, object, oneOf, text, time } from '../../shared/index.js';
import { userSubject } from './roster.js';

/** Stream of a file, and key subject of its bytes. */
export const fileSubject = ({ fileId }: { readonly fileId: string }): string => `chat.file-${fileId}`;

/** Name under which clients request a file uploaded at `now` (Unix ms). */
export const storedName = (now: number, fileId: string, extension: string): string => `${now}-${fileId}.${extension}`;

const STORED = /^\d{1,15}-([\w-]{22})\.[a-z]{2,8}$/;

export const fileIdOf = (stored: string): string | undefined => STORED.exec(stored)?.[1];

const content = object({
  contentType: id,
  /** Bytes. */
  size: count,
  /** Of the plaintext bytes, in hex. */
  sha256: id,
  stored: id,
  /** Content key, sealed under the file's key. */
  sealedKey: id,
});
export type Content = DataOf<typeof content>;

export const fileEvents = {
  FileUploaded: event(
    object({
      fileId: id,
      /** `<ms>-<fileId>.<ext>` */
      name: id,
      uploadedBy: id,
      uploadedAt: time,
      /** Channel or conversation of an image; null for a file, which its uploader may attach anywhere. */
      channelId: oneOf(id, none),
      content,
      thumbnail: oneOf(content, none),
      /** Sealed under the uploader's key: erasing the user erases the name; the bytes stay with the messages. */
      secret: object({ originalName: text }),
    }),
    {
      sealed: {
        subject: ({ uploadedBy }) => userSubject({ userId: uploadedBy }),
        erased: { originalName: '' },
      },
    },
  ),
  /** Appended before the message (or reply) that has the file, or its edit, which alone proves the attachment. */
  FileAttached: event(object({ fileId: id, messageId: id, channelId: id, by: id, attachedAt: time })),
  /** A day after the last attachment, a message with the file was found to exist. */
  FileKept: event(object({ fileId: id, keptAt: time })),
  /** Unattached for a day, or its messages or its channel were deleted. */
  FileDiscarded: event(object({ fileId: id, discardedAt: time }), { erases: fileSubject }),
} as const;
