/** Events of files and images; the bytes are stored outside the log. */
import { count, type DataOf, event, id, none, object, oneOf, text, time } from '../../shared/index.js';
import { userSubject } from './roster.js';

/** Stream of a file, and key subject of its bytes. */
export const fileSubject = ({ fileId }: { readonly fileId: string }): string => `chat.file-${fileId}`;

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

/** `messageId`: a message or reply. */
const attachment = { fileId: id, messageId: id } as const;

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
      /**
       * Sealed under the uploader's key, so that erasing the user erases the file name while the bytes stay with the
       * messages. The name is also sealed under the file's own key and is erased with the file.
       */
      secret: object({ sealedName: text }),
    }),
    {
      sealed: {
        subject: ({ uploadedBy }) => userSubject({ userId: uploadedBy }),
        erased: { sealedName: '' },
      },
    },
  ),
  /** Appended before the message that attaches the file, which alone proves the attachment. */
  FileAttached: event(object({ ...attachment, channelId: id, by: id, attachedAt: time })),
  /** The message was found to exist a day later. */
  FileKept: event(object({ fileId: id, keptAt: time })),
  FileDetached: event(object({ ...attachment, detachedAt: time })),
  FileDiscarded: event(
    object({
      fileId: id,
      /** Unattached for a day, or its message or channel was deleted. */
      reason: { enum: ['unattached', 'deleted'] },
      discardedAt: time,
    }),
    { erases: fileSubject },
  ),
} as const;
