/** Requests the next item of a stream while the caller works on the current one. */

/**
 * Reads at most one item ahead, which is dropped when the signal is aborted.
 *
 * @param open Opens the stream, which must end when its signal is aborted: on `signal`, or when the caller stops.
 */
export async function* readAhead<Item>(
  signal: AbortSignal,
  open: (signal: AbortSignal) => AsyncIterable<Item>,
): AsyncGenerator<Item, undefined> {
  const end = new AbortController();
  const items = open(AbortSignal.any([signal, end.signal]))[Symbol.asyncIterator]();
  try {
    for (let next = items.next(); ; ) {
      const item = await next;
      if (item.done || signal.aborted) return;
      next = items.next();
      // A failure is thrown when the item is due.
      next.catch(() => {});
      yield item.value;
    }
  } finally {
    end.abort();
    // Not awaited: the stream may take a while to notice.
    items.return?.().catch(() => {});
  }
}
