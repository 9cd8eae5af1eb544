/** Prepares the content of a message or reply: checks files and quote, and computes mentions; attaches the files. */

import { fileIdOf, fileSubject } from '../../../domain/chat/events/files.js';
import type { Attachment, MessageContent } from '../../../domain/chat/events/messages.js';
import { mentionsOf } from '../../../domain/chat/names.js';
import { isRejection, type Rejection, rejection } from '../../../domain/shared/index.js';
import type { CommandContext } from '../../ports/index.js';
import { fileAggregate } from '../aggregates.js';
import type { Files } from '../files/files.js';
import type { Authentication, Caller, ChatPorts } from '../sign-in/authenticate.js';
import type { MessageSnapshot } from './message-view.js';
import type { Visibility } from './visibility.js';

/** Content as sent by a client; an edit leaves absent members unchanged. */
export interface MessageInput extends Partial<Pick<MessageContent, 'content' | 'attachments' | 'images'>> {
  readonly quotedMessageId?: string | null;
}

export interface PreparedContent {
  readonly body: Partial<MessageContent>;
  readonly quotedMessageId?: string | null;
}

const emptyEdit = rejection(
  'chat/empty-edit',
  'invalid',
  'Provide at least one of content, attachments, images and quotedMessageId',
);
const badQuote = rejection(
  'chat/bad-quote',
  'invalid',
  'quotedMessageId must be another message of the same channel or conversation',
);

const unknownUpload = rejection('chat/unknown-upload', 'invalid', 'attachments and images must be uploaded first');

/** A message or reply. */
export interface MessageTarget {
  readonly messageId: string;
  readonly channelId: string;
}

export type AttachedFiles = Partial<Pick<MessageContent, 'attachments' | 'images'>>;

export async function findMentions({ roster }: Pick<Authentication, 'roster'>, content: string) {
  if (!content.includes('@')) return [];
  const { names } = (await roster()).state;
  return mentionsOf(content, (key) => names.get(key));
}

export interface ContentPorts extends Pick<ChatPorts, 'handle' | 'clock' | 'admission'> {
  readonly visibility: Visibility;
  readonly files: Pick<Files, 'file' | 'hasImage' | 'originalNameOf'>;
}

export type Contents = ReturnType<typeof createContents>;

export function createContents({ handle, clock, admission, visibility, files }: ContentPorts) {
  /** Prepares a new message, or with `target` an edit. */
  async function prepare(
    by: Caller,
    channelId: string,
    input: MessageInput,
    target?: Pick<MessageSnapshot, 'id' | 'quotedMessageId'>,
  ): Promise<PreparedContent | Rejection> {
    if (target && Object.values(input).every((each) => each === undefined)) return emptyEdit;
    const attached = await check(by, channelId, input);
    if ('rejected' in attached) return attached;
    const { content, quotedMessageId } = input;
    const body = {
      ...attached,
      ...(content !== undefined && { content, mentions: await findMentions(admission, content) }),
    };
    if (quotedMessageId === undefined) return { body };
    // A quote that an edit does not change may refer to a message deleted since.
    if (quotedMessageId === null || quotedMessageId === target?.quotedMessageId) return { body, quotedMessageId };
    const isOtherMessage = quotedMessageId !== target?.id;
    return isOtherMessage && (await isQuotable(by, channelId, quotedMessageId)) ? { body, quotedMessageId } : badQuote;
  }

  /** Whether the quoted message or reply is in the same channel and visible to the caller. */
  async function isQuotable(by: Caller, channelId: string, quoted: string): Promise<boolean> {
    const found = await visibility.message(by, quoted);
    return !('rejected' in found) && found.state.channelId === channelId;
  }

  /** Verifies that the files were uploaded and the caller may use them; returns them as uploaded. */
  async function check(
    by: Caller,
    channelId: string,
    { attachments, images }: AttachedFiles,
  ): Promise<AttachedFiles | Rejection> {
    const names = [...new Set(attachments?.map(({ filename }) => filename))];
    const imageNames = [...new Set(images)];
    const [attached, hasImages] = await Promise.all([
      Promise.all(names.map((name) => findAttachment(by, name))),
      Promise.all(imageNames.map((name) => files.hasImage(channelId, name))),
    ]);
    if (!attached.every(isDefined) || hasImages.includes(false)) return unknownUpload;
    return { ...(attachments && { attachments: attached }), ...(images && { images: imageNames }) };
  }

  async function findAttachment(by: Caller, filename: string): Promise<Attachment | undefined> {
    const found = await files.file(by, filename);
    if ('rejected' in found) return undefined;
    const { contentType, size } = found.content;
    return { filename, originalName: await files.originalNameOf(found), contentType, size };
  }

  /** Records the attachment before the message is posted, so that readers of the message may read its files. */
  async function attach(
    by: string,
    target: MessageTarget,
    { attachments = [], images = [] }: AttachedFiles,
    { quota: _, ...context }: CommandContext,
  ): Promise<Rejection | undefined> {
    const names = [...attachments.map(({ filename }) => filename), ...images];
    for (const fileId of names.map(fileIdOf).filter(isDefined)) {
      const command = { type: 'AttachFile' as const, fileId, by, ...target, now: clock.now() };
      const outcome = await handle(fileAggregate, fileSubject({ fileId }), command, context);
      if (isRejection(outcome)) return outcome.kind === 'not-found' ? unknownUpload : outcome;
    }
    return undefined;
  }

  return { prepare, check, attach };
}

const isDefined = <T>(found: T | undefined): found is T => found !== undefined;
