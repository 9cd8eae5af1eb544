/** What happens to files and images; their bytes stand outside the log. */
import { type DataOf, event, object, oneOf } from '../../shared/index.js';
import { userSubject } from './roster.js';
import { count, id, text, time } from './words.js';

/** The stream of a file, and the subject whose key its bytes are lost with. */
export const fileSubject = ({ fileId }: { readonly fileId: string }): string => `chat.file-${fileId}`;

const content = object({
  contentType: id,
  /** In bytes. */
  size: count,
  /** Of the bytes in clear, in hex. */
  sha256: id,
  /** What the file store calls them. */
  stored: id,
  /** The key of the bytes, sealed under the file's own. */
  sealedKey: id,
});
/** Bytes in the file store. */
export type Content = DataOf<typeof content>;

const none = { type: 'null' } as const;
const hanging = { fileId: id, messageId: id, holderId: id } as const;

export const fileEvents = {
  FileUploaded: event(
    object({
      fileId: id,
      /** `<ms>-<fileId>.<ext>` */
      name: id,
      uploadedBy: id,
      uploadedAt: time,
      /** The channel or conversation of an image; a file may hang on what its uploader says anywhere. */
      channelId: oneOf(id, none),
      content,
      /** Of an image, perhaps. */
      thumbnail: oneOf(content, none),
      /**
       * The uploader's key: what people call their files is theirs, and goes with them, while the bytes stay with the
       * messages that hold them. The name is sealed once more under the file's own key, and goes with that, too.
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
  /** Comes before what is said: that it hangs there, its message tells. `holderId` is the message, or a reply to it. */
  FileAttached: event(object({ ...hanging, channelId: id, by: id, attachedAt: time })),
  /** A day later what it hangs on was found to be there. */
  FileKept: event(object({ fileId: id, keptAt: time })),
  FileDetached: event(object({ ...hanging, detachedAt: time })),
  FileDiscarded: event(
    object({
      fileId: id,
      /** It hung on nothing for a day, or what it hung on was deleted, or the channel was. */
      reason: { enum: ['unattached', 'deleted'] },
      discardedAt: time,
    }),
    { erases: fileSubject },
  ),
} as const;
