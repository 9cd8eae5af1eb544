/** Routes of files and images. */
import type { Files } from '../../../application/chat/files/files.js';
import type { Replies } from '../../../application/chat/messages/replies.js';
import type { Visibility } from '../../../application/chat/messages/visibility.js';
import type { Caller } from '../../../application/chat/sign-in/authenticate.js';
import { type Budget, createBudget } from '../../../application/concurrency/index.js';
import type { StoredFile } from '../../../application/ports/index.js';
import type { SealedFiles } from '../../../application/secrets/index.js';
import { fileNotFound } from '../../../domain/chat/file.js';
import { MAX_BYTES } from '../../../domain/chat/file-types.js';
import { isRejection, object, type Rejection } from '../../../domain/shared/index.js';
import { sendDownload } from '../server/download.js';
import { type Request, type Route, route } from '../server/route.js';
import { type AuthGuards, access, contextWithQuota } from './auth.js';
import type { ChatQuotas } from './quotas.js';
import { text } from './schemas.js';

export interface FileDeps {
  readonly guards: AuthGuards;
  readonly files: Files;
  readonly visibility: Visibility;
  readonly replies: Pick<Replies, 'parent'>;
  readonly sealedFiles: Pick<SealedFiles, 'receive'>;
  readonly uploads: Budget;
  readonly downloads: Budget;
  readonly quotas: Pick<ChatQuotas, 'uploads'>;
}

/** Maximum body size for these contents: base64, 10 % for escapes, and the other members. */
const bodySizeFor = (...bytes: readonly number[]): number =>
  bytes.reduce((sum, each) => sum + Math.ceil((each / 3) * 4 * 1.1), 64 * 1024);

/** Maximum concurrent uploads of some hundred kilobytes of memory each. A caller may use two thirds. */
const MAX_UPLOADS = 60;
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
const NO_FILE = { description: 'There is no such file, or the caller cannot see a message with it' };
const NO_IMAGE = { description: 'There is no such image, or the caller cannot see its channel or conversation' };
const DOWNLOADED = {
  206: { description: 'The requested range', type: '*/*' },
  304: { description: 'Not modified since `If-None-Match`' },
  416: { description: 'The requested range is outside of the content' },
};
const BAD_FILE = {
  description: 'The name, its extension or the content is invalid, or the content is not base64, empty or too large',
};

type ImageRequest = Pick<Request, 'bearer' | 'ifPosition' | 'params'>;

export function fileRoutes(deps: FileDeps): readonly Route[] {
  const { guards, files, visibility, replies, sealedFiles, uploads, downloads, quotas } = deps;
  const { receive } = sealedFiles;
  const user = access(guards.user, tags);

  const send = (request: Request, { userId }: Caller, kind: 'attachment' | 'inline', file: StoredFile | Rejection) =>
    isRejection(file)
      ? file
      : sendDownload(request, file, { kind, notFound: fileNotFound, budget: downloads, callerKey: userId });

  /** `find` checks access before anything is stored. */
  function imageRoutes(
    path: string,
    summaries: { readonly upload: string; readonly download: string },
    find: (caller: Caller, request: ImageRequest) => Promise<{ readonly id: string } | Rejection>,
  ): readonly Route[] {
    async function admit(request: ImageRequest) {
      const caller = await guards.user(request);
      if (isRejection(caller)) return caller;
      const channel = await find(caller, request);
      return isRejection(channel) ? channel : { caller, channelId: channel.id };
    }
    const common = { ...user, admit };

    return [
      route({
        ...common,
        method: 'POST',
        path,
        summary: summaries.upload,
        body: imageBody,
        bodyLimit: bodySizeFor(MAX_BYTES.image, MAX_BYTES.image),
        uploads: { members: { image: MAX_BYTES.image, thumbnail: MAX_BYTES.image }, receive },
        budget: uploads,
        quota: quotas.uploads,
        answers: {
          200: { description: 'Uploaded', schema: uploadedImage },
          400: BAD_FILE,
          404: { description: 'The caller cannot see the channel or conversation' },
        },
        callerKey: ({ caller }) => caller.userId,
        async handle(request, { caller, channelId }) {
          const { body, received } = request;
          const [content, thumbnail] = [received.get('image'), received.get('thumbnail')];
          const image = { filename: body.filename, channelId, content, thumbnail };
          const result = await files.upload(caller, image, contextWithQuota(caller, request));
          if (isRejection(result)) return result;
          return { body: { success: true, filename: result.body.filename }, position: result.position };
        },
      }),
      route({
        ...common,
        method: 'GET',
        path: `${path}/:filename`,
        summary: summaries.download,
        query: imageQuery,
        answers: {
          200: { description: 'The content; of the thumbnail if it is requested and exists', type: 'image/*' },
          404: NO_IMAGE,
          ...DOWNLOADED,
        },
        async handle(request, { caller, channelId }) {
          const image = await files.image(caller, channelId, request.params.filename!, request.ifPosition);
          if (isRejection(image)) return image;
          return send(request, caller, 'inline', await files.download(image, request.query.size === 'thumb'));
        },
      }),
    ];
  }

  return [
    route({
      method: 'POST',
      path: '/files',
      summary: 'Upload a file, to attach it to a message',
      description: 'Files not attached to a message within a day are deleted.',
      ...user,
      body: fileBody,
      bodyLimit: bodySizeFor(MAX_BYTES.file),
      uploads: { members: { file: MAX_BYTES.file }, receive },
      budget: uploads,
      quota: quotas.uploads,
      answers: { 200: { description: 'Uploaded', schema: uploadedFile }, 400: BAD_FILE },
      callerKey: ({ userId }) => userId,
      async handle(request, caller) {
        const { body, received } = request;
        const upload = { filename: body.filename, channelId: null, content: received.get('file') };
        const result = await files.upload(caller, upload, contextWithQuota(caller, request));
        if (isRejection(result)) return result;
        return { body: { success: true, attachment: result.body }, position: result.position };
      },
    }),
    route({
      method: 'GET',
      path: '/files/:filename',
      summary: 'Download a file: for its uploader, and for users who can see a message with it',
      ...user,
      answers: {
        200: { description: 'The content', type: '*/*' },
        404: NO_FILE,
        ...DOWNLOADED,
      },
      async handle(request, caller) {
        const file = await files.file(caller, request.params.filename, request.ifPosition);
        if ('rejected' in file) return file;
        return send(request, caller, 'attachment', await files.download(file));
      },
    }),
    ...imageRoutes(
      '/channels/:channelId/messages/image',
      { upload: 'Upload an image to a channel', download: 'Download an image of a channel or its threads' },
      (caller, { params, ifPosition }) => visibility.channel(caller, params.channelId!, ifPosition),
    ),
    ...imageRoutes(
      '/messages/:messageId/thread/image',
      { upload: 'Upload an image to a thread', download: 'Download an image of the channel of a thread' },
      async (caller, { params, ifPosition }) => {
        const parent = await replies.parent(caller, params.messageId!, ifPosition);
        return isRejection(parent) ? parent : { id: parent.channelId };
      },
    ),
    ...imageRoutes(
      '/conversations/:conversationId/messages/image',
      { upload: 'Upload an image to a conversation', download: 'Download an image of a conversation' },
      (caller, { params, ifPosition }) => visibility.conversation(caller, params.conversationId!, ifPosition),
    ),
  ];
}
