/** Uploads of a composer: progress, cancel, retry; what is finished becomes part of the draft. */
import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { ApiError, messageOf } from '../../shared/api/http.js';
import { uploadJson } from '../../shared/api/upload.js';
import { randomKey } from '../../shared/random-key.js';
import type { Attachment } from '../contract.js';
import { bearer, refreshSession } from '../session.js';
import { isDirect } from '../state/chat-state.js';
import { checkFile } from '../state/file-kinds.js';
import { texts } from '../texts/workspace.js';
import type { Drafts } from './drafts.js';
import { thumbnailOf } from './thumbnail.js';

export interface Upload {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly isImage: boolean;
  /** Share that is sent, 0 to 1. */
  readonly progress: number;
  /** Set when it has failed. */
  readonly error?: string;
}

interface Running {
  readonly file: File;
  readonly kind: 'file' | 'image';
  /** Number among all that were added. */
  readonly sequence: number;
  readonly abort: AbortController;
}

export type Uploads = ReturnType<typeof createUploads>;

export function createUploads(drafts: Drafts) {
  const signals = new Map<string, Signal<readonly Upload[]>>();
  const running = new Map<string, Running>();
  /** Stored names in the order in which their files were chosen, which uploads need not complete in. */
  const order = new Map<string, number>();
  let added = 0;
  /** Object URLs of images uploaded from here, by stored name. */
  const previews = new Map<string, string>();

  function listOf(key: string): Signal<readonly Upload[]> {
    const list = signals.get(key) ?? signal<readonly Upload[]>([]);
    signals.set(key, list);
    return list;
  }

  const set = (key: string, id: string, changes: Partial<Upload>) => {
    const list = listOf(key);
    list.value = list.value.map((each) => (each.id === id ? { ...each, ...changes } : each));
  };

  /** Leaving the page would lose unfinished uploads. */
  function warn(event: BeforeUnloadEvent) {
    if (running.size > 0) event.preventDefault();
  }

  const byOrder = (one: string, other: string) => (order.get(one) ?? 0) - (order.get(other) ?? 0);

  function remove(key: string, id: string) {
    running.get(id)?.abort.abort();
    running.delete(id);
    const list = listOf(key);
    list.value = list.value.filter((each) => each.id !== id);
  }

  /** Starts uploads to the draft of a timeline; returns what to say about files that are not taken. */
  function add(key: string, placeId: string, files: Iterable<File>): readonly string[] {
    const refusals: string[] = [];
    for (const file of files) {
      const check = checkFile(file);
      if (check.kind === 'refused') {
        refusals.push(texts.refusedFile(file.name || texts.aFile, check.reason));
        continue;
      }
      const id = randomKey();
      const { kind, name } = check;
      running.set(id, { file, kind, sequence: ++added, abort: new AbortController() });
      const upload = { id, name, size: file.size, isImage: kind === 'image', progress: 0 };
      listOf(key).value = [...listOf(key).value, upload];
      void run(key, placeId, upload);
    }
    return refusals;
  }

  async function run(key: string, placeId: string, { id, name }: Upload) {
    const upload = running.get(id);
    if (!upload) return;
    addEventListener('beforeunload', warn);
    try {
      await (upload.kind === 'image' ? sendImage(key, placeId, id, name, upload) : sendFile(key, id, name, upload));
      remove(key, id);
    } catch (error) {
      if (!upload.abort.signal.aborted) set(key, id, { error: messageOf(error) });
    } finally {
      if (running.size === 0) removeEventListener('beforeunload', warn);
    }
  }

  async function sendFile(key: string, id: string, filename: string, { file, sequence, abort }: Running) {
    const body = { filename, file: await base64Of(file), contentType: file.type };
    const { attachment } = await post<{ attachment: Attachment }>('files', body, key, id, abort.signal);
    abort.signal.throwIfAborted();
    order.set(attachment.filename, sequence);
    const attachments = [...drafts.of(key).peek().attachments, attachment];
    drafts.change(key, { attachments: attachments.sort((a, b) => byOrder(a.filename, b.filename)) });
  }

  async function sendImage(
    key: string,
    placeId: string,
    id: string,
    filename: string,
    { file, sequence, abort }: Running,
  ) {
    const place = `${isDirect(placeId) ? 'conversations' : 'channels'}/${encodeURIComponent(placeId)}`;
    const [image, thumbnail] = await Promise.all([base64Of(file), thumbnailOf(file)]);
    const body = { filename, image, ...(thumbnail !== undefined && { thumbnail }) };
    const answer = await post<{ filename: string }>(`${place}/messages/image`, body, key, id, abort.signal);
    abort.signal.throwIfAborted();
    previews.set(answer.filename, URL.createObjectURL(file));
    order.set(answer.filename, sequence);
    drafts.change(key, { images: [...drafts.of(key).peek().images, answer.filename].sort(byOrder) });
  }

  /** Ends all uploads: after signing out nothing of the user is sent or stored again. */
  function stop() {
    for (const { abort } of running.values()) abort.abort();
    running.clear();
    removeEventListener('beforeunload', warn);
    for (const url of previews.values()) URL.revokeObjectURL(url);
    previews.clear();
  }

  async function post<Answer>(path: string, body: unknown, key: string, id: string, abort: AbortSignal) {
    const idempotencyKey = randomKey();
    const attempt = () =>
      uploadJson<Answer>(path, body, {
        headers: { ...bearer(), 'Idempotency-Key': idempotencyKey },
        onProgress: (progress) => set(key, id, { progress }),
        signal: abort,
      });
    return attempt().catch(async (error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 401 || !(await refreshSession())) throw error;
      return attempt();
    });
  }

  return {
    of: (key: string): ReadonlySignal<readonly Upload[]> => listOf(key),
    previewOf: (filename: string): string | undefined => previews.get(filename),
    add,
    cancel: remove,
    stop,
    retry(key: string, placeId: string, upload: Upload) {
      const current = running.get(upload.id);
      if (!current) return;
      set(key, upload.id, { progress: 0, error: undefined as never });
      void run(key, placeId, upload);
    },
  };
}

function base64Of(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new ApiError(texts.unreadableFile));
    reader.readAsDataURL(file);
  });
}
