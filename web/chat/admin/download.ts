/** Receives a file with progress and saves it, onto the disk as it comes where the browser can. */
import { ApiError } from '../../shared/api/http.js';
import { adminTexts } from '../texts/admin.js';

interface SaveFilePicker {
  showSaveFilePicker?(options: { suggestedName: string }): Promise<{ createWritable(): Promise<WritableStream> }>;
}

export interface Target {
  /** Undefined: the parts are collected in memory, and saved at the end. */
  readonly file: WritableStream<Uint8Array> | undefined;
}

/** Asks where to save, so must be called from a click; undefined if the person cancels. */
export async function chooseTarget(suggestedName: string): Promise<Target | undefined> {
  const picker = (globalThis as SaveFilePicker).showSaveFilePicker;
  if (!picker) return { file: undefined };
  try {
    const handle = await picker({ suggestedName });
    return { file: await handle.createWritable() };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined;
    return { file: undefined };
  }
}

/** A download that breaks off saves nothing, as half a file may look like a whole one. */
export async function save(response: Response, name: string, { file }: Target, onBytes: (bytes: number) => void) {
  const body = response.body?.pipeThrough(counting(onBytes));
  if (!body) throw new ApiError(adminTexts.export.sentNothing);
  if (file) return body.pipeTo(file);
  const url = URL.createObjectURL(await new Response(body).blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function counting(onBytes: (bytes: number) => void): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      onBytes(bytes);
      controller.enqueue(chunk);
    },
  });
}
