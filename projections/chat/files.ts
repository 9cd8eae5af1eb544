/** Projects files due for review, and one row per attachment. */
import type { ChatEvent } from '../../domain/chat/catalog.js';
import { parentOf } from '../../domain/chat/events/messages.js';
import type { Projection } from '../kernel/index.js';

type FileChange = ChatEvent<'FileUploaded' | 'FileAttached' | 'FileKept' | 'FileDetached' | 'FileDiscarded'>;

export const files: Projection<FileChange> = {
  name: 'chat.files',
  version: 2,
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
        { put: holderRow(file, message), update: { $set: { file, message, channel, ...(thread && { thread }) } } },
        { patch: file, update: { $set: { due } } },
      ];
    },
    FileKept: ({ data: { fileId } }) => [{ patch: fileId, update: { $unset: { due: '' } } }],
    FileDetached: ({ data: { fileId, messageId, detachedAt: due } }) => [
      { remove: holderRow(fileId, messageId) },
      { patch: fileId, update: { $set: { due } } },
    ],
    FileDiscarded: ({ data: { fileId } }) => [{ remove: fileId }, { purge: { file: fileId } }],
  },
};

const holderRow = (fileId: string, messageId: string): string => `${fileId} ${messageId}`;
