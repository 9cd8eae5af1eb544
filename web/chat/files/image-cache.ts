/** Images as object URLs: the service wants the session's token, which `<img src>` cannot send. */
import type { Http } from '../../shared/api/http.js';
import { isDirect } from '../state/chat-state.js';

const MAX_IMAGES = 150;

export type ImageSize = 'thumb' | 'full';
export type ImageCache = ReturnType<typeof createImageCache>;

export function createImageCache(http: Http) {
  /** Least recently used first. */
  const urls = new Map<string, Promise<string>>();

  const pathOf = (placeId: string, filename: string) => {
    const place = `${isDirect(placeId) ? 'conversations' : 'channels'}/${encodeURIComponent(placeId)}`;
    return `${place}/messages/image/${encodeURIComponent(filename)}`;
  };

  async function load(path: string, size: ImageSize): Promise<string> {
    const response = await http.send('GET', path, { query: { size: size === 'thumb' ? 'thumb' : undefined } });
    return URL.createObjectURL(await response.blob());
  }

  function evict() {
    for (const [key, url] of urls) {
      if (urls.size <= MAX_IMAGES) return;
      urls.delete(key);
      // An image that is shown stays: it has been decoded.
      void url.then(URL.revokeObjectURL, () => {});
    }
  }

  return {
    url(placeId: string, filename: string, size: ImageSize): Promise<string> {
      const path = pathOf(placeId, filename);
      const key = `${size} ${path}`;
      const cached = urls.get(key);
      const url = cached ?? load(path, size);
      urls.delete(key);
      urls.set(key, url);
      if (!cached) url.catch(() => urls.delete(key));
      evict();
      return url;
    },
    clear() {
      for (const url of urls.values()) void url.then(URL.revokeObjectURL, () => {});
      urls.clear();
    },
  };
}
