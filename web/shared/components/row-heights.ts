/** Heights of the rows of a list: measured, else estimated; with the offsets that follow from them. */

export type Heights = ReturnType<typeof createHeights>;

export function createHeights() {
  /** Measured, or estimated once: a long list is laid out again with each page that is added to it. */
  const heights = new Map<string, number>();
  let keys: readonly string[] = [];
  let indexes: ReadonlyMap<string, number> = new Map();
  /** Height of each row, so that a measured row needs no look-up of all others. */
  let sizes = new Float64Array(0);
  /** Offset of each row, and the total height at the end. */
  let offsets = new Float64Array(1);
  let isStale = true;

  function heightOf(key: string, index: number, estimate: (index: number) => number): number {
    const known = heights.get(key);
    if (known !== undefined) return known;
    const height = estimate(index);
    heights.set(key, height);
    return height;
  }

  return {
    /** Takes over the rows as they are now. */
    update(next: readonly string[], estimate: (index: number) => number) {
      if (next !== keys) {
        keys = next;
        indexes = new Map(next.map((key, index) => [key, index]));
        sizes = new Float64Array(next.length);
        for (let index = 0; index < next.length; index++) sizes[index] = heightOf(next[index]!, index, estimate);
        isStale = true;
      }
      if (!isStale) return;
      offsets = new Float64Array(sizes.length + 1);
      for (let index = 0; index < sizes.length; index++) offsets[index + 1] = offsets[index]! + sizes[index]!;
      isStale = false;
    },
    /** Remembers a measured height; true if it differs from what was known. */
    set(key: string, height: number): boolean {
      if (Math.abs((heights.get(key) ?? -1) - height) < 0.5) return false;
      heights.set(key, height);
      const index = indexes.get(key);
      if (index !== undefined) sizes[index] = height;
      isStale = true;
      return true;
    },
    indexOf: (key: string): number => indexes.get(key) ?? -1,
    /** Distance of a row from the start. */
    offset: (index: number): number => offsets[Math.max(0, Math.min(index, keys.length))] ?? 0,
    of: (index: number): number => (offsets[index + 1] ?? 0) - (offsets[index] ?? 0),
    total: (): number => offsets[keys.length] ?? 0,
    /** Index of the row at a distance from the start, by binary search; the first or last row beyond the ends. */
    at(distance: number): number {
      let [low, high] = [0, Math.max(0, keys.length - 1)];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (offsets[middle]! <= distance) low = middle;
        else high = middle - 1;
      }
      return low;
    },
  };
}
