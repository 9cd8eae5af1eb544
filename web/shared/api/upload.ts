/** JSON requests with upload progress, which `fetch` does not report. */
import { texts } from '../texts.js';
import { ApiError, errorFrom } from './http.js';

export interface UploadOptions {
  readonly headers: { readonly [name: string]: string };
  /** Share that is sent, 0 to 1. */
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
}

/** Posts JSON; rejects with an `ApiError`, or with the abort. */
export function uploadJson<Answer>(path: string, body: unknown, options: UploadOptions): Promise<Answer> {
  const { headers, onProgress, signal } = options;
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.setRequestHeader('Content-Type', 'application/json');
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onerror = () => reject(new ApiError(texts.unreachable));
    request.onabort = () => reject(signal.reason);
    request.onload = async () => {
      const response = new Response(request.responseText, {
        status: request.status,
        headers: { 'Retry-After': request.getResponseHeader('Retry-After') ?? '' },
      });
      if (!response.ok) reject(await errorFrom(response));
      else resolve(response.json() as Promise<Answer>);
    };
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => request.abort());
    request.send(JSON.stringify(body));
  });
}
