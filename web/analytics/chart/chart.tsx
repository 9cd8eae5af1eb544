/** Chart of a period, drawn by uPlot; accessible by keyboard as a slider over its points. */
// Must be imported before uPlot, which reads the language when it is loaded.
import './valid-language.js';
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import UPlot from 'uplot';
import { chartTexts } from '../texts.js';
import { type ChartData, chartLabel, columnsOf, highestPoint, linesOf, pointText } from './chart-data.js';
import { optionsOf } from './chart-options.js';

const HEIGHT = { wide: 260, narrow: 200 };
const NARROW = 480;
/** Points that Page Up and Page Down move. */
const PAGE = 7;

export function Chart({ data }: { data: ChartData }) {
  const container = useRef<HTMLDivElement>(null);
  /** Index of the point under the cursor. */
  const [cursor, setCursor] = useState<number>();
  const plot = usePlot(container, data, setCursor);
  const last = data.buckets.length - 1;
  const shown = cursor === undefined ? last : Math.min(cursor, last);

  function moveTo(index: number) {
    if (!plot.current) return;
    const to = Math.min(Math.max(index, 0), last);
    const [x, y] = [data.buckets[to]?.start ?? 0, data.line.values[to] ?? 0];
    plot.current.setCursor({ left: plot.current.valToPos(x / 1000, 'x'), top: plot.current.valToPos(y, 'y') }, false);
    setCursor(to);
  }

  // A refresh keeps the cursor of the keyboard.
  useEffect(() => {
    if (cursor !== undefined && document.activeElement === container.current) moveTo(cursor);
  }, [data]);

  function onKeyDown(event: KeyboardEvent) {
    const steps: { readonly [key: string]: number } = {
      ArrowLeft: shown - 1,
      ArrowDown: shown - 1,
      ArrowRight: shown + 1,
      ArrowUp: shown + 1,
      PageDown: shown - PAGE,
      PageUp: shown + PAGE,
      Home: 0,
      End: last,
    };
    const to = steps[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    moveTo(to);
  }
  function onFocus() {
    if (container.current?.matches(':focus-visible')) moveTo(cursor ?? last);
  }
  function onBlur() {
    plot.current?.setCursor({ left: -10, top: -10 }, false);
    setCursor(undefined);
  }

  return (
    <>
      <p id="readout">
        {cursor === undefined
          ? chartTexts.highest(pointText(data, highestPoint(data)), data.resolution)
          : pointText(data, shown)}
      </p>
      <div
        ref={container}
        id="chart"
        role="slider"
        tabIndex={0}
        aria-label={chartLabel(data)}
        aria-describedby="chart-help"
        aria-valuemin={1}
        aria-valuemax={last + 1}
        aria-valuenow={shown + 1}
        aria-valuetext={pointText(data, shown)}
        onKeyDown={onKeyDown}
        onFocus={onFocus}
        onBlur={onBlur}
      />
    </>
  );
}

/** Draws the data, again when it or the window changes. */
function usePlot(
  container: RefObject<HTMLDivElement>,
  data: ChartData,
  onCursor: (index: number | undefined) => void,
): RefObject<UPlot> {
  const plot = useRef<UPlot>(null);

  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const { resolution, buckets } = data;
    const created = new UPlot(
      optionsOf({ ...sizeOf(element), points: buckets.length, resolution, lines: linesOf(data), onCursor }),
      columnsOf(data),
      element,
    );
    plot.current = created;
    return () => created.destroy();
  }, [data]);

  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const observer = new ResizeObserver(() => plot.current?.setSize(sizeOf(element)));
    observer.observe(element);
    // A canvas does not follow changes of CSS colours.
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => plot.current?.redraw(false, true);
    scheme.addEventListener('change', redraw);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', redraw);
    };
  }, []);
  return plot;
}

const sizeOf = ({ clientWidth: width }: HTMLElement) => ({
  width,
  height: width < NARROW ? HEIGHT.narrow : HEIGHT.wide,
});
