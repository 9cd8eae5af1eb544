/** The stage: all pictures, placed so that they fill it. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { dropProps, isDraggingFiles } from '../files/drop.js';
import { room } from '../meeting/state.js';
import { texts } from '../texts.js';
import { Invitation } from './invitation.js';
import { arrangement, type Item, keyOf } from './layout.js';
import { placementOf, type Rect } from './placement.js';
import { Tile } from './tile.js';

export function Stage() {
  const element = useRef<HTMLElement>(null);
  const [size, setSize] = useState<{ readonly width: number; readonly height: number }>();
  useLayoutEffect(() => {
    const stage = element.current;
    if (!stage) return;
    const measure = () => setSize({ width: stage.clientWidth, height: stage.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(stage);
    return () => observer.disconnect();
  }, []);

  const { large, others } = arrangement.value;
  const placement = placementOf(large !== undefined, others.length, size?.width ?? 0, size?.height ?? 0);
  const placed = others.map((item, index): readonly [Item, Rect | undefined] => [item, placement.others[index]]);
  const tiles = large ? [[large, placement.large] as const, ...placed] : placed;
  return (
    <section ref={element} class="stage" aria-label={texts.stage.label} {...dropProps()}>
      {size && (
        <div class="canvas" style={{ height: `${placement.height}px` }}>
          {tiles.map(([item, rect]) => rect && <Tile key={keyOf(item)} item={item} rect={rect} />)}
        </div>
      )}
      {room.value.people.size === 1 && others.length + (large ? 1 : 0) === 1 && <Invitation />}
      {isDraggingFiles.value && <p class="drop-note">{texts.stage.dropAll}</p>}
    </section>
  );
}
