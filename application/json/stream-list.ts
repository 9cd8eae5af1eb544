/** A JSON array in pieces, of whatever comes page by page: never more than a page of it is in hand. */

/** Characters that are written together. */
const PIECE = 32 * 1024;

/**
 * `opening`: what stands before the array, such as the name of a member. A page of nothing is told by a space: it may take long
 * until something comes, and who hears nothing gives up.
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
      // The first at once: it may take long until there is another, and who waits is to know that it has begun.
      const isDue = isFirst || text.length >= PIECE;
      isFirst = false;
      if (!isDue) continue;
      yield text;
      text = '';
    }
  }
  yield `${text}]`;
}
