/** Serializes long JSON lists: in slices of the event loop, or page by page. */
import { sliceExpired, yieldToEventLoop } from './cooperative-scheduler.js';

/** Returns `{[name]: [...items]}` as bytes. */
export async function serializeList(name: string, items: readonly unknown[]): Promise<Uint8Array> {
  const chunks = [Buffer.from(`{${JSON.stringify(name)}:[`)];
  for (const item of items) {
    if (sliceExpired()) await yieldToEventLoop();
    chunks.push(Buffer.from(`${chunks.length === 1 ? '' : ','}${JSON.stringify(item)}`));
  }
  return Buffer.concat([...chunks, Buffer.from(']}')]);
}

/** Characters per chunk. */
const CHUNK_LENGTH = 32 * 1024;

/**
 * Yields chunks of a JSON array, with at most one page in memory. An empty page yields a space, because clients time out if they receive nothing.
 *
 * @param opening Text before the array, such as a member name; `closing`: after it.
 */
export async function* streamList(
  opening: string,
  pages: AsyncIterable<readonly object[]>,
  closing = '',
): AsyncGenerator<string> {
  let text = `${opening}[`;
  let isFirst = true;
  for await (const page of pages) {
    if (page.length === 0) {
      yield `${text} `;
      text = '';
    }
    for (const item of page) {
      text += (isFirst ? '' : ',') + JSON.stringify(item);
      // Sends the first item immediately: the next may take long, and clients must see a response.
      const isDue = isFirst || text.length >= CHUNK_LENGTH;
      isFirst = false;
      if (!isDue) continue;
      yield text;
      text = '';
    }
  }
  yield `${text}]${closing}`;
}
