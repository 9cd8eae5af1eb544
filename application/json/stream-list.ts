/** Streams a JSON array page by page, so that at most one page is in memory. */

/** Characters per chunk. */
const CHUNK_LENGTH = 32 * 1024;

/**
 * Yields chunks of JSON. An empty page yields a space, because clients time out if they receive nothing.
 *
 * @param opening Text before the array, such as a member name.
 */
export async function* streamList(opening: string, pages: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
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
  yield `${text}]`;
}
