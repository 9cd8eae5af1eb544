/** Routes of files and images. */
import type { Files } from '../../../application/chat/files/files.js';
import type { Replies } from '../../../application/chat/messages/replies.js';
import type { Visibility } from '../../../application/chat/messages/visibility.js';
import type { Caller } from '../../../application/chat/sign-in/authenticate.js';
import { type Budget, createBudget } from '../../../application/concurrency/index.js';
import type { SealedFiles } from '../../../application/files/encrypted-blobs.js';
import { MAX_BYTES } from '../../../domain/chat/file-types.js';
import { isRejection, object, type Rejection } from '../../../domain/shared/index.js';
import type { Answer } from '../server/answer.js';
import type { Problem } from '../server/problem.js';
import { type Request, type Route, route } from '../server/route.js';
import { type AuthGuards, contextWithQuota } from './auth.js';
import type { ChatQuotas } from './quotas.js';
import { text } from './schemas.js';
import { sendDownload } from './stream-download.js';

export interface FileDeps {
  readonly guards: AuthGuards;
  readonly files: Files;
  readonly visibility: Visibility;
  readonly replies: Pick<Replies, 'parent'>;
  readonly sealedFiles: Pick<SealedFiles, 'receive'>;
  /** Concurrent uploads. */
  readonly uploads: Budget;
  readonly downloads: Budget;
  readonly quotas: Pick<ChatQuotas, 'uploads'>;
}

/** Maximum body size for these contents: base64, 10 % for escapes, and the other members. */
const bodySizeFor = (...bytes: readonly number[]): number =>
  bytes.reduce((sum, each) => sum + Math.ceil((each / 3) * 4 * 1.1), 64 * 1024);

/** Maximum concurrent uploads of some hundred kilobytes of memory each. A caller may use two thirds. */
const MAX_UPLOADS = 60;
/** Maximum concurrent downloads. */
const MAX_DOWNLOADS = 300;

export const createFileBudgets = (): Pick<FileDeps, 'uploads' | 'downloads'> => ({
  uploads: createBudget('uploads', MAX_UPLOADS),
  downloads: createBudget('downloads', MAX_DOWNLOADS),
});

const base64 = (description: string) =>
  ({
    type: 'string',
    contentEncoding: 'base64',
    description: `${description}; may be a data URL`,
  }) as const;
/** Bounds the input before a name is shortened to 255 characters. */
const filename = { type: 'string', maxLength: 4096 } as const;

const fileBody = object(
  {
    filename: { ...filename, description: 'Its extension determines the content type' },
    file: base64('At most 25 MiB'),
  },
  { contentType: { type: 'string', maxLength: 255, description: 'Ignored' } },
);
const imageBody = object(
  {
    filename: { ...filename, description: 'Ends in jpg, jpeg, png, webp or svg' },
    image: base64('At most 10 MiB'),
  },
  { thumbnail: base64('An image, at most 10 MiB') },
);
const imageQuery = object({}, { size: { type: 'string', description: '`thumb` for the thumbnail' } });

const uploadedFile = object({
  success: { type: 'boolean' },
  attachment: object({ filename: text, originalName: text, contentType: text, size: { type: 'integer' } }),
});
const uploadedImage = object({ success: { type: 'boolean' }, filename: text });

const tags = ['files'];
const NO_FILE = { description: 'There is no such file, or the caller can not see a message with it' };
const NO_IMAGE = { description: 'There is no such image, or the caller can not see its channel or conversation' };
const PARTIAL = { description: 'The requested range', type: '*/*' };
const NOT_MODIFIED = { description: 'Not modified since `If-None-Match`' };
const BAD_RANGE = { description: 'The requested range is outside of the content' };
const BAD_FILE = {
  description: 'The name, its extension or the content is invalid, or the content is not base64, empty or too large',
};

/** The caller, and the channel or conversation of the image. */
interface ImageAccess {
  readonly caller: Caller;
  readonly channelId: string;
}

type ImageAccessResult = Promise<ImageAccess | Rejection | Problem>;
type FileRequest = Pick<Request, 'bearer' | 'ifPosition'>;

export function fileRoutes(deps: FileDeps): readonly Route[] {
  const { guards, files, visibility, replies, sealedFiles, uploads, downloads, quotas } = deps;
  const { receive } = sealedFiles;

  /** Checks access before anything is stored. */
  async function checkAccess(
    request: FileRequest,
    find: (caller: Caller) => Promise<{ readonly id: string } | Rejection>,
  ): ImageAccessResult {
    const caller = await guards.user(request);
    if ('rejected' in caller || 'problem' in caller) return caller;
    const channel = await find(caller);
    return 'rejected' in channel ? channel : { caller, channelId: channel.id };
  }
  const inChannel = (request: FileRequest & Pick<Request<unknown, unknown, { channelId: string }>, 'params'>) =>
    checkAccess(request, (caller) => visibility.channel(caller, request.params.channelId, request.ifPosition));
  const inConversation = (
    request: FileRequest & Pick<Request<unknown, unknown, { conversationId: string }>, 'params'>,
  ) =>
    checkAccess(request, (caller) =>
      visibility.conversation(caller, request.params.conversationId, request.ifPosition),
    );
  const inThread = (request: FileRequest & Pick<Request<unknown, unknown, { messageId: string }>, 'params'>) =>
    checkAccess(request, async (caller) => {
      const parent = await replies.parent(caller, request.params.messageId, request.ifPosition);
      return 'rejected' in parent ? parent : { id: parent.channelId };
    });

  const uploadFile = route({
    method: 'POST',
    path: '/files',
    summary: 'Upload a file, to attach it to a message',
    description: 'Files not attached to a message within a day are deleted.',
    tags,
    security: 'access',
    body: fileBody,
    bodyLimit: bodySizeFor(MAX_BYTES.file),
    uploads: { members: { file: MAX_BYTES.file }, receive },
    budget: uploads,
    quota: quotas.uploads,
    answers: { 200: { description: 'Uploaded', schema: uploadedFile }, 400: BAD_FILE },
    admit: guards.user,
    callerKey: ({ userId }) => userId,
    async handle(request, caller) {
      const { body, received } = request;
      const upload = { filename: body.filename, channelId: null, content: received.get('file') };
      const result = await files.upload(caller, upload, contextWithQuota(caller, request));
      if (isRejection(result)) return result;
      return { status: 200, body: { success: true, attachment: result.body }, position: result.position };
    },
  });

  const downloadFile = route({
    method: 'GET',
    path: '/files/:filename',
    summary: 'Download a file: for its uploader, and for users who can see a message with it',
    tags,
    security: 'access',
    answers: {
      200: { description: 'The content', type: '*/*' },
      206: PARTIAL,
      304: NOT_MODIFIED,
      404: NO_FILE,
      416: BAD_RANGE,
    },
    admit: guards.user,
    async handle(request, caller) {
      const file = await files.file(caller, request.params.filename, request.ifPosition);
      if ('rejected' in file) return file;
      return sendDownload(request, 'attachment', await files.download(file), downloads, caller.userId);
    },
  });

  const imageUpload = {
    method: 'POST',
    tags,
    security: 'access',
    body: imageBody,
    bodyLimit: bodySizeFor(MAX_BYTES.image, MAX_BYTES.image),
    uploads: { members: { image: MAX_BYTES.image, thumbnail: MAX_BYTES.image }, receive },
    budget: uploads,
    quota: quotas.uploads,
    answers: {
      200: { description: 'Uploaded', schema: uploadedImage },
      400: BAD_FILE,
      404: { description: 'The caller can not see the channel or conversation' },
    },
    callerKey: ({ caller }: ImageAccess) => caller.userId,
    async handle(
      request: Pick<Request<{ readonly filename: string }>, 'body' | 'received' | 'context'>,
      { caller, channelId }: ImageAccess,
    ): Promise<Answer> {
      const { body, received } = request;
      const [content, thumbnail] = [received.get('image'), received.get('thumbnail')];
      const upload = { filename: body.filename, channelId, content, thumbnail };
      const result = await files.upload(caller, upload, contextWithQuota(caller, request));
      if (isRejection(result)) return result;
      return {
        status: 200,
        body: { success: true, filename: result.body.filename },
        position: result.position,
      };
    },
  } as const;

  const imageDownload = {
    method: 'GET',
    tags,
    security: 'access',
    query: imageQuery,
    answers: {
      200: {
        description: 'The content; of the thumbnail if it is requested and exists',
        type: 'image/*',
      },
      206: PARTIAL,
      304: NOT_MODIFIED,
      404: NO_IMAGE,
      416: BAD_RANGE,
    },
    async handle(
      request: Pick<
        Request<unknown, { readonly size?: string }, { readonly filename: string }>,
        'method' | 'headers' | 'logger' | 'params' | 'query' | 'ifPosition' | 'signal'
      >,
      { caller, channelId }: ImageAccess,
    ): Promise<Answer> {
      const image = await files.image(channelId, request.params.filename, request.ifPosition);
      if ('rejected' in image) return image;
      const download = await files.download(image, request.query.size === 'thumb');
      return sendDownload(request, 'inline', download, downloads, caller.userId);
    },
  } as const;

  return [
    uploadFile,
    downloadFile,
    route({
      ...imageUpload,
      path: '/channels/:channelId/messages/image',
      summary: 'Upload an image to a channel',
      admit: inChannel,
    }),
    route({
      ...imageDownload,
      path: '/channels/:channelId/messages/image/:filename',
      summary: 'Download an image of a channel or its threads',
      admit: inChannel,
    }),
    route({
      ...imageUpload,
      path: '/messages/:messageId/thread/image',
      summary: 'Upload an image to a thread',
      admit: inThread,
    }),
    route({
      ...imageDownload,
      path: '/messages/:messageId/thread/image/:filename',
      summary: 'Download an image of the channel of a thread',
      admit: inThread,
    }),
    route({
      ...imageUpload,
      path: '/conversations/:conversationId/messages/image',
      summary: 'Upload an image to a conversation',
      admit: inConversation,
    }),
    route({
      ...imageDownload,
      path: '/conversations/:conversationId/messages/image/:filename',
      summary: 'Download an image of a conversation',
      admit: inConversation,
    }),
  ];
}
