/** Projects files due for review, and one row per attachment. */
import type { ChatEvent } from '../../domain/chat/catalog.js';
import type { Projection } from '../kernel/index.js';

type FileChange = ChatEvent<'FileUploaded' | 'FileAttached' | 'FileKept' | 'FileDetached' | 'FileDiscarded'>;

export const files: Projection<FileChange> = {
  name: 'chat.files',
  version: 1,
  indexes: [
    { key: { due: 1 }, sparse: true },
    { key: { holder: 1, _id: 1 }, sparse: true },
    { key: { message: 1, _id: 1 }, sparse: true },
    // Includes images by their own channel.
    { key: { channel: 1, _id: 1 }, sparse: true },
    { key: { file: 1 } },
  ],
  on: {
    FileUploaded: ({ data: { fileId: file, channelId, uploadedAt: due } }) => [
      { put: file, update: { $set: { file, due, ...(channelId !== null && { channel: channelId }) } } },
    ],
    FileAttached({ data: { fileId: file, messageId, holderId, channelId, attachedAt: due } }) {
      const held = { file, message: messageId, holder: holderId, channel: channelId };
      return [
        { put: holderRow(file, holderId), update: { $set: held } },
        { patch: file, update: { $set: { due } } },
      ];
    },
    FileKept: ({ data: { fileId } }) => [{ patch: fileId, update: { $unset: { due: '' } } }],
    FileDetached: ({ data: { fileId, holderId, detachedAt: due } }) => [
      { remove: holderRow(fileId, holderId) },
      { patch: fileId, update: { $set: { due } } },
    ],
    FileDiscarded: ({ data: { fileId } }) => [{ remove: fileId }, { purge: { file: fileId } }],
  },
};

const holderRow = (fileId: string, holderId: string): string => `${fileId} ${holderId}`;
