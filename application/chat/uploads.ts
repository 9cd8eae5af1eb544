/** What hangs on a message: what was really uploaded, by the caller or where they can see it. */
import type { Attachment } from '../../domain/chat/events/messages.js';
import type { Rejection } from '../../domain/shared/decider.js';
import type { Caller } from './admission.js';

/** What somebody wants to hang on what they say. */
export interface Hanging {
  readonly attachments: readonly Attachment[];
  readonly images: readonly string[];
}

/** Answers what hangs there as it was uploaded, or why not. */
export type Uploads = (by: Caller, channelId: string, hanging: Hanging) => Promise<Hanging | Rejection>;

export const unknownUpload: Rejection = {
  rejected: 'chat/unknown-upload',
  kind: 'invalid',
  detail: 'attachments and images must have been uploaded before',
};

/** Where nothing can be uploaded, nothing can hang on a message. */
export const noUploads: Uploads = async (_, __, hanging) =>
  hanging.attachments.length + hanging.images.length > 0 ? unknownUpload : hanging;
