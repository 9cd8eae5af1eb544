/** The routes of files and images. */
import type { Files } from '../../../application/chat/files/files.js';
import type { Replies } from '../../../application/chat/messages/replies.js';
import type { Visibility } from '../../../application/chat/messages/visibility.js';
import type { Caller } from '../../../application/chat/sign-in/authenticate.js';
import { type Budget, createBudget } from '../../../application/concurrency/index.js';
import type { SealedFiles } from '../../../application/files/encrypted-blobs.js';
import { MOST_BYTES } from '../../../domain/chat/file-types.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { Answer } from '../server/answer.js';
import type { Problem } from '../server/problem.js';
import { type Request, type Route, route } from '../server/route.js';
import { type AuthGuards, contextWithQuota } from './auth.js';
import * as schemas from './file-schemas.js';
import type { ChatQuotas } from './quotas.js';
import { send } from './stream-download.js';

export interface FileDeps {
  readonly doors: AuthGuards;
  readonly files: Files;
  readonly places: Visibility;
  readonly replies: Pick<Replies, 'parent'>;
  readonly sealedFiles: Pick<SealedFiles, 'receive'>;
  /** Bodies that come in at a time. */
  readonly uploads: Budget;
  readonly downloads: Budget;
  readonly quotas: Pick<ChatQuotas, 'uploads'>;
}

/** In base64, a tenth of it written with escapes, and what is said besides. */
const asBody = (...bytes: readonly number[]): number =>
  bytes.reduce((sum, each) => sum + Math.ceil((each / 3) * 4 * 1.1), 64 * 1024);

/** Uploads that come in at a time: each holds some hundred kilobytes. One caller has two thirds. */
const UPLOADS = 60;
/** Downloads that are under way. */
const DOWNLOADS = 300;

export const createFileBudgets = (): Pick<FileDeps, 'uploads' | 'downloads'> => ({
  uploads: createBudget('uploads', UPLOADS),
  downloads: createBudget('downloads', DOWNLOADS),
});

const tags = ['files'];
const NO_FILE = { description: 'There is no such file, or the caller sees no message that holds it' };
const NO_IMAGE = { description: 'There is no such image there, or the caller does not see the place' };
const PART = { description: 'The part that `Range` asks for', type: '*/*' };
const SAME = { description: 'It is as `If-None-Match` has it' };
const NO_PART = { description: '`Range` asks for a part that it has not' };
const BAD_FILE = {
  description: 'The name, its end or the content is wrong, it is no base64, empty or too large',
};

/** Somebody, and where they want to put an image, or to see one. */
interface Visitor {
  readonly caller: Caller;
  readonly channelId: string;
}

type FileResult = Promise<Visitor | Rejection | Problem>;
type FileRequest = Pick<Request, 'bearer' | 'ifPosition'>;

export function fileRoutes(deps: FileDeps): readonly Route[] {
  const { doors, files, places, replies, sealedFiles, uploads, downloads, quotas } = deps;
  const { receive } = sealedFiles;

  /** Who may not see a place is told so before anything is stored. */
  async function visiting(
    request: FileRequest,
    find: (caller: Caller) => Promise<{ readonly id: string } | Rejection>,
  ): FileResult {
    const caller = await doors.user(request);
    if ('rejected' in caller || 'problem' in caller) return caller;
    const place = await find(caller);
    return 'rejected' in place ? place : { caller, channelId: place.id };
  }
  const inChannel = (request: FileRequest & Pick<Request<unknown, unknown, { channelId: string }>, 'params'>) =>
    visiting(request, (caller) => places.channel(caller, request.params.channelId, request.ifPosition));
  const inConversation = (
    request: FileRequest & Pick<Request<unknown, unknown, { conversationId: string }>, 'params'>,
  ) => visiting(request, (caller) => places.conversation(caller, request.params.conversationId, request.ifPosition));
  const inThread = (request: FileRequest & Pick<Request<unknown, unknown, { messageId: string }>, 'params'>) =>
    visiting(request, async (caller) => {
      const parent = await replies.parent(caller, request.params.messageId, request.ifPosition);
      return 'rejected' in parent ? parent : { id: parent.channelId };
    });

  const uploadFile = route({
    method: 'POST',
    path: '/files',
    summary: 'Upload a file, to hang it on a message then',
    description: 'What hangs on no message a day later is removed.',
    tags,
    security: 'access',
    body: schemas.fileBody,
    bodyLimit: asBody(MOST_BYTES.file),
    uploads: { members: { file: MOST_BYTES.file }, receive },
    budget: uploads,
    quota: quotas.uploads,
    answers: { 200: { description: 'Uploaded', schema: schemas.uploadedFile }, 400: BAD_FILE },
    admit: doors.user,
    nameOf: ({ userId }) => userId,
    async handle(request, caller) {
      const { body, received } = request;
      const what = { filename: body.filename, channelId: null, content: received.get('file') };
      const done = await files.upload(caller, what, contextWithQuota(caller, request));
      if (isRejection(done)) return done;
      return { status: 200, body: { success: true, attachment: done.body }, position: done.position };
    },
  });

  const downloadFile = route({
    method: 'GET',
    path: '/files/:filename',
    summary: 'A file: for its uploader, and for whoever sees a message that holds it',
    tags,
    security: 'access',
    answers: {
      200: { description: 'Its bytes', type: '*/*' },
      206: PART,
      304: SAME,
      404: NO_FILE,
      416: NO_PART,
    },
    admit: doors.user,
    async handle(request, caller) {
      const found = await files.file(caller, request.params.filename, request.ifPosition);
      if ('rejected' in found) return found;
      return send(request, 'attachment', await files.download(found), downloads, caller.userId);
    },
  });

  const imageUpload = {
    method: 'POST',
    tags,
    security: 'access',
    body: schemas.imageBody,
    bodyLimit: asBody(MOST_BYTES.image, MOST_BYTES.image),
    uploads: { members: { image: MOST_BYTES.image, thumbnail: MOST_BYTES.image }, receive },
    budget: uploads,
    quota: quotas.uploads,
    answers: {
      200: { description: 'Uploaded', schema: schemas.uploadedImage },
      400: BAD_FILE,
      404: { description: 'The caller does not see the place' },
    },
    nameOf: ({ caller }: Visitor) => caller.userId,
    async handle(
      request: Pick<Request<{ readonly filename: string }>, 'body' | 'received' | 'context'>,
      { caller, channelId }: Visitor,
    ): Promise<Answer> {
      const { body, received } = request;
      const [content, thumbnail] = [received.get('image'), received.get('thumbnail')];
      const what = { filename: body.filename, channelId, content, thumbnail };
      const done = await files.upload(caller, what, contextWithQuota(caller, request));
      if (isRejection(done)) return done;
      return {
        status: 200,
        body: { success: true, filename: done.body.filename },
        position: done.position,
      };
    },
  } as const;

  const imageDownload = {
    method: 'GET',
    tags,
    security: 'access',
    query: schemas.imageQuery,
    answers: {
      200: {
        description: 'Its bytes; of the thumbnail, where that is asked for and there is one',
        type: 'image/*',
      },
      206: PART,
      304: SAME,
      404: NO_IMAGE,
      416: NO_PART,
    },
    async handle(
      request: Pick<
        Request<unknown, { readonly size?: string }, { readonly filename: string }>,
        'method' | 'headers' | 'logger' | 'params' | 'query' | 'ifPosition' | 'signal'
      >,
      { caller, channelId }: Visitor,
    ): Promise<Answer> {
      const found = await files.image(channelId, request.params.filename, request.ifPosition);
      if ('rejected' in found) return found;
      const download = await files.download(found, request.query.size === 'thumb');
      return send(request, 'inline', download, downloads, caller.userId);
    },
  } as const;

  return [
    uploadFile,
    downloadFile,
    route({
      ...imageUpload,
      path: '/channels/:channelId/messages/image',
      summary: 'Upload an image into a channel',
      admit: inChannel,
    }),
    route({
      ...imageDownload,
      path: '/channels/:channelId/messages/image/:filename',
      summary: 'An image of a channel, of its threads too',
      admit: inChannel,
    }),
    route({
      ...imageUpload,
      path: '/messages/:messageId/thread/image',
      summary: 'Upload an image into a thread',
      admit: inThread,
    }),
    route({
      ...imageDownload,
      path: '/messages/:messageId/thread/image/:filename',
      summary: 'An image of the channel of a thread',
      admit: inThread,
    }),
    route({
      ...imageUpload,
      path: '/conversations/:conversationId/messages/image',
      summary: 'Upload an image into a conversation',
      admit: inConversation,
    }),
    route({
      ...imageDownload,
      path: '/conversations/:conversationId/messages/image/:filename',
      summary: 'An image of a conversation',
      admit: inConversation,
    }),
  ];
}
