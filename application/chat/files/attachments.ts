/** What hangs on a message: what was really uploaded, by the caller or where they can see it. */
import { fileSubject } from '../../../domain/chat/events/files.js';
import { type Attachment, NOTHING_SAID, type Said } from '../../../domain/chat/events/messages.js';
import { fileIdOf } from '../../../domain/chat/file-names.js';
import { isRejection, type Rejection } from '../../../domain/shared/decider.js';
import type { Handle } from '../../command/handle-command.js';
import type { Clock, CommandContext } from '../../ports/index.js';
import { fileKind } from '../aggregates.js';
import type { Caller } from '../sign-in/authenticate.js';
import type { Files } from './files.js';

/** What somebody wants to hang on what they say. */
export type Hanging = Pick<Said, 'attachments' | 'images'>;

/** A message, or a reply to it, which is about to be said. */
export interface Holding {
  readonly holderId: string;
  readonly messageId: string;
  readonly channelId: string;
}

export interface Uploads {
  /** What hangs there as it was uploaded, or why not. */
  check(by: Caller, channelId: string, hanging: Hanging): Promise<Hanging | Rejection>;
  /** Files are told what they hang on before it is said: only so are they there for whoever reads it. */
  hang(
    by: string,
    on: Holding,
    hanging: Partial<Hanging>,
    context: CommandContext,
  ): Promise<Rejection | undefined>;
}

export interface UploadPorts {
  readonly files: Pick<Files, 'file' | 'image' | 'originalNameOf'>;
  readonly handle: Handle;
  readonly clock: Clock;
}

const unknownUpload: Rejection = {
  rejected: 'chat/unknown-upload',
  kind: 'invalid',
  detail: 'attachments and images must have been uploaded before',
};

export function createUploads({ files, handle, clock }: UploadPorts): Uploads {
  async function attachment(by: Caller, name: string): Promise<Attachment | undefined> {
    const found = await files.file(by, name);
    if ('rejected' in found) return undefined;
    const { contentType, size } = found.content;
    return { filename: name, originalName: (await files.originalNameOf(found)) ?? name, contentType, size };
  }

  async function image(channelId: string, name: string): Promise<string | undefined> {
    return 'rejected' in (await files.image(channelId, name)) ? undefined : name;
  }

  return {
    async check(by, channelId, { attachments, images }) {
      const names = new Set(attachments.map(({ filename }) => filename));
      const [hanging, pictures] = await Promise.all([
        Promise.all([...names].map((name) => attachment(by, name))),
        Promise.all([...new Set(images)].map((name) => image(channelId, name))),
      ]);
      if (!hanging.every(isThere) || !pictures.every(isThere)) return unknownUpload;
      return { attachments: hanging, images: pictures };
    },

    async hang(by, on, hanging, { quota: _, ...context }) {
      for (const fileId of filesOf(hanging)) {
        const command = { type: 'AttachFile' as const, fileId, by, ...on, now: clock.now() };
        const outcome = await handle(fileKind, fileSubject({ fileId }), command, context);
        if (isRejection(outcome)) return outcome.kind === 'not-found' ? unknownUpload : outcome;
      }
      return undefined;
    },
  };
}

const isThere = <T>(found: T | undefined): found is T => found !== undefined;

/** The ids of all files that hang on something. */
export const filesOf = ({ attachments, images }: Partial<Hanging>): readonly string[] => {
  const { attachments: none, images: nothing } = NOTHING_SAID;
  const names = [...(attachments ?? none).map(({ filename }) => filename), ...(images ?? nothing)];
  return names.map(fileIdOf).filter(isThere);
};
