/** Projects files due for review, and one row per message that has, or before an edit had, a file. */
import type { ChatEvent } from '../../domain/chat/catalog.js';
import { parentOf } from '../../domain/chat/events/messages.js';
import type { Projection } from '../kernel/index.js';

type FileChange = ChatEvent<'FileUploaded' | 'FileAttached' | 'FileKept' | 'FileDiscarded'>;

export const files: Projection<FileChange> = {
  name: 'chat.files',
  version: 3,
  indexes: [
    { key: { due: 1 }, sparse: true },
    { key: { message: 1, _id: 1 }, sparse: true },
    // Only attachments of replies have it.
    { key: { thread: 1, _id: 1 }, sparse: true },
    // Includes images by their own channel.
    { key: { channel: 1, _id: 1 }, sparse: true },
    { key: { file: 1 } },
  ],
  on: {
    FileUploaded: ({ data: { fileId: file, channelId, uploadedAt: due } }) => [
      { put: file, update: { $set: { file, due, ...(channelId !== null && { channel: channelId }) } } },
    ],
    FileAttached({ data: { fileId: file, messageId: message, channelId: channel, attachedAt: due } }) {
      const thread = parentOf(message);
      return [
        { put: `${file} ${message}`, update: { $set: { file, message, channel, ...(thread && { thread }) } } },
        { patch: file, update: { $set: { due } } },
      ];
    },
    FileKept: ({ data: { fileId } }) => [{ patch: fileId, update: { $unset: { due: '' } } }],
    FileDiscarded: ({ data: { fileId } }) => [{ remove: fileId }, { purge: { file: fileId } }],
  },
};
