/** Checks and attaches uploaded files to messages. */

import { fileIdOf, fileSubject } from '../../../domain/chat/events/files.js';
import type { Attachment, MessageContent } from '../../../domain/chat/events/messages.js';
import { isRejection, type Rejection, rejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import type { CommandContext } from '../../ports/index.js';
import { fileAggregate } from '../aggregates.js';
import type { Caller } from '../sign-in/authenticate.js';
import type { Files } from './files.js';

export type AttachedFiles = Pick<MessageContent, 'attachments' | 'images'>;

/** A message or reply. */
export interface AttachTarget {
  readonly messageId: string;
  readonly channelId: string;
}

export type Attachments = ReturnType<typeof createAttachments>;

export interface AttachmentPorts extends Pick<KernelPorts, 'handle' | 'clock'> {
  readonly files: Pick<Files, 'file' | 'hasImage' | 'originalNameOf'>;
}

const unknownUpload = rejection('chat/unknown-upload', 'invalid', 'attachments and images must be uploaded first');

export function createAttachments({ files, handle, clock }: AttachmentPorts) {
  async function findAttachment(by: Caller, filename: string): Promise<Attachment | undefined> {
    const found = await files.file(by, filename);
    if ('rejected' in found) return undefined;
    const { contentType, size } = found.content;
    return { filename, originalName: await files.originalNameOf(found), contentType, size };
  }

  return {
    /** Verifies that the files were uploaded and the caller may use them; returns them as uploaded. */
    async check(
      by: Caller,
      channelId: string,
      { attachments, images }: AttachedFiles,
    ): Promise<AttachedFiles | Rejection> {
      const names = [...new Set(attachments.map(({ filename }) => filename))];
      const imageNames = [...new Set(images)];
      const [attached, hasImages] = await Promise.all([
        Promise.all(names.map((name) => findAttachment(by, name))),
        Promise.all(imageNames.map((name) => files.hasImage(channelId, name))),
      ]);
      return attached.every(isDefined) && !hasImages.includes(false)
        ? { attachments: attached, images: imageNames }
        : unknownUpload;
    },

    /** Records the attachment before the message is posted, so that readers of the message may read its files. */
    async attach(
      by: string,
      target: AttachTarget,
      attached: Partial<AttachedFiles>,
      { quota: _, ...context }: CommandContext,
    ): Promise<Rejection | undefined> {
      for (const fileId of filesOf(attached)) {
        const command = { type: 'AttachFile' as const, fileId, by, ...target, now: clock.now() };
        const outcome = await handle(fileAggregate, fileSubject({ fileId }), command, context);
        if (isRejection(outcome)) return outcome.kind === 'not-found' ? unknownUpload : outcome;
      }
      return undefined;
    },
  };
}

const isDefined = <T>(found: T | undefined): found is T => found !== undefined;

const filesOf = ({ attachments = [], images = [] }: Partial<AttachedFiles>): readonly string[] =>
  [...attachments.map(({ filename }) => filename), ...images].map(fileIdOf).filter(isDefined);
