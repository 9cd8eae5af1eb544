/** Sizes of a grid that fills the stage. */

export interface Grid {
  readonly columns: number;
  /** CSS px. */
  readonly width: number;
  readonly height: number;
}

/** Pictures may be cropped between these shapes. */
const [NARROWEST, WIDEST] = [1, 16 / 9];
/** Shape of tiles that are too many for the stage. */
const SCROLLING = 4 / 3;

/**
 * Returns the columns and the size of the tiles with which `count` of them cover most of the stage. If they would be
 * narrower than `minWidth`, they are as high as they like, and the stage scrolls.
 */
export function gridOf(count: number, stageWidth: number, stageHeight: number, gap: number, minWidth: number): Grid {
  let best: Grid = { columns: 1, width: 0, height: 0 };
  for (let columns = 1; columns <= Math.max(1, count); columns++) {
    const rows = Math.ceil(count / columns);
    const cellWidth = (stageWidth - gap * (columns - 1)) / columns;
    const cellHeight = (stageHeight - gap * (rows - 1)) / rows;
    const width = Math.floor(Math.min(cellWidth, cellHeight * WIDEST));
    const height = Math.floor(Math.min(cellHeight, width / NARROWEST));
    if (width * height > best.width * best.height) best = { columns, width, height };
  }
  if (best.width >= minWidth || stageWidth <= minWidth) return best;
  const columns = Math.max(1, Math.floor((stageWidth + gap) / (minWidth + gap)));
  const width = Math.floor((stageWidth - gap * (columns - 1)) / columns);
  return { columns, width, height: Math.floor(width / SCROLLING) };
}
