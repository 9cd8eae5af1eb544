/** Places the pictures on the stage: a grid, or one in large with the others beside it. */
import { gridOf } from './grid.js';

/** CSS px from the upper left corner of the stage. */
export interface Rect {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Placement {
  readonly large: Rect | undefined;
  /** In the order of the items. */
  readonly others: readonly Rect[];
  /** More than the height of the stage if it has to scroll. */
  readonly height: number;
}

const GAP = 8;
/** Share of the stage beside a large picture. */
const STRIP = 0.2;
const [MIN_STRIP, MAX_STRIP] = [110, 260];

export function placementOf(hasLarge: boolean, count: number, width: number, height: number): Placement {
  if (!hasLarge) return { large: undefined, ...gridRects(count, { left: 0, top: 0, width, height }, 140) };
  if (count === 0) return { large: { left: 0, top: 0, width, height }, others: [], height };
  const isWide = width > 1.2 * height;
  const side = isWide ? width : height;
  const strip = Math.round(Math.min(MAX_STRIP, Math.max(MIN_STRIP, STRIP * side)));
  const rest = side - strip - GAP;
  const large = isWide ? { left: 0, top: 0, width: rest, height } : { left: 0, top: 0, width, height: rest };
  const beside = isWide
    ? { left: rest + GAP, top: 0, width: strip, height }
    : { left: 0, top: rest + GAP, width, height: strip };
  return { large, others: gridRects(count, beside, 1).others, height };
}

function gridRects(count: number, area: Rect, minWidth: number): Pick<Placement, 'others' | 'height'> {
  const grid = gridOf(count, area.width, area.height, GAP, minWidth);
  const rows = Math.ceil(count / grid.columns);
  const usedHeight = rows * (grid.height + GAP) - GAP;
  const top = area.top + Math.max(0, (area.height - usedHeight) / 2);
  const others = Array.from({ length: count }, (_, index) => {
    const row = Math.floor(index / grid.columns);
    // The last row may be shorter; it is centered.
    const inRow = Math.min(grid.columns, count - row * grid.columns);
    const usedWidth = inRow * (grid.width + GAP) - GAP;
    const left = area.left + (area.width - usedWidth) / 2 + (index % grid.columns) * (grid.width + GAP);
    return { left, top: top + row * (grid.height + GAP), width: grid.width, height: grid.height };
  });
  return { others, height: Math.max(area.height, usedHeight) };
}
