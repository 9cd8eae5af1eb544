/** Records over time, by groups of levels: drag, or arrow keys with Shift and Enter, to zoom. */
import { ZoomOut } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { IconButton } from '../../shared/components/button.js';
import { clockTime, clockTimeWithSeconds } from '../../shared/components/time.js';
import { language } from '../../shared/language.js';
import { texts } from '../texts.js';
import { intervalOf, type Scale, ticksOf } from '../time/bars.js';
import { absoluteRange, widerRange } from '../time/range.js';
import { type Histogram as Counted, histogram, histogramError } from './counts.js';
import { fine } from './fine-histogram.js';
import { state } from './results.js';
import { change, view } from './view.js';

/** Bars from one to the other, both included; in either order. */
interface Span {
  readonly anchor: number;
  readonly focus: number;
}

const HEIGHT = 100;
/** A tick further to the right would be cut off. */
const LAST_TICK = 0.95;
const DAY_MS = 86_400_000;
const dayFormat = new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric' });
const bothFormat = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
const bothWithSecondsFormat = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });

export function Histogram() {
  const counted = fine.value ?? histogram.value;
  if (!counted)
    return (
      <div class="histogram empty" aria-hidden={histogramError.value === undefined}>
        {histogramError.value !== undefined && state.value !== 'failed' && (
          <p class="quiet">{texts.histogram.failed}</p>
        )}
      </div>
    );
  return <Chart key={`${counted.scale.start} ${counted.scale.widthMs}`} counted={counted} />;
}

function Chart({ counted }: { counted: Counted }) {
  const { scale } = counted;
  const [span, setSpan] = useState<Span>();
  const [hovered, setHovered] = useState<number>();
  const [isDragging, setDragging] = useState(false);
  const shown = span ?? (hovered === undefined ? undefined : { anchor: hovered, focus: hovered });

  function barAt(event: PointerEvent) {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
    const bar = Math.floor(((event.clientX - left) / width) * scale.bars);
    return Math.max(0, Math.min(scale.bars - 1, bar));
  }

  function zoom({ anchor, focus }: Span) {
    const [first, last] = [Math.min(anchor, focus), Math.max(anchor, focus)];
    setSpan(undefined);
    change({ range: absoluteRange(instantOf(scale, first), instantOf(scale, last + 1) - 1), live: false });
  }

  function onKeyDown(event: KeyboardEvent) {
    const focus = span?.focus ?? scale.bars - 1;
    const next = { ArrowLeft: focus - 1, ArrowRight: focus + 1, Home: 0, End: scale.bars - 1 }[event.key];
    if (event.key === 'Enter' && span) zoom(span);
    else if (event.key === 'Escape') setSpan(undefined);
    else if (next !== undefined) {
      const bar = span ? Math.max(0, Math.min(scale.bars - 1, next)) : focus;
      setSpan({ anchor: event.shiftKey && span ? span.anchor : bar, focus: bar });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <section class="histogram" aria-label={texts.histogram.label}>
      <div class="histogram-head">
        <output class="quiet">{shown ? describe(counted, shown) : describeScale(counted)}</output>
        <Legend />
        <IconButton
          small
          icon={ZoomOut}
          label={texts.time.zoomOut}
          disabled={view.value.range.kind === 'all'}
          onClick={() => change({ range: widerRange(view.value.range, Date.now()), live: false })}
        />
      </div>
      <div
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label={`${texts.histogram.label}. ${texts.histogram.hint}`}
        aria-valuemin={1}
        aria-valuemax={scale.bars}
        aria-valuenow={(span?.focus ?? scale.bars - 1) + 1}
        aria-valuetext={describe(counted, span ?? { anchor: scale.bars - 1, focus: scale.bars - 1 })}
        title={texts.histogram.hint}
        onKeyDown={onKeyDown}
        onBlur={() => setSpan(undefined)}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          const bar = barAt(event);
          setDragging(true);
          setSpan({ anchor: bar, focus: bar });
        }}
        onPointerMove={(event) => {
          const bar = barAt(event);
          setHovered(bar);
          if (isDragging) setSpan((before) => ({ anchor: before?.anchor ?? bar, focus: bar }));
        }}
        onPointerUp={() => {
          if (isDragging && span) zoom(span);
          setDragging(false);
        }}
        onPointerCancel={() => {
          setDragging(false);
          setSpan(undefined);
        }}
        onPointerLeave={() => setHovered(undefined)}
      >
        <Bars counted={counted} shown={shown} />
      </div>
      <Axis scale={scale} />
    </section>
  );
}

function describeScale({ scale, totals }: Counted): string {
  const [count, unit] = intervalOf(scale.widthMs);
  return texts.histogram.scale(count, unit, Math.max(...totals));
}

const instantOf = ({ start, widthMs }: Scale, bar: number) => start + bar * widthMs;

function describe({ scale, totals, errors, warnings }: Counted, { anchor, focus }: Span): string {
  const [first, last] = [Math.min(anchor, focus), Math.max(anchor, focus)];
  const sum = (counts: readonly number[]) => counts.slice(first, last + 1).reduce((total, each) => total + each, 0);
  const format = scale.widthMs < 60_000 ? bothWithSecondsFormat : bothFormat;
  const range = format.formatRange(instantOf(scale, first), instantOf(scale, last + 1));
  return texts.histogram.bar(range, sum(totals), sum(errors), sum(warnings));
}

function Bars({ counted, shown }: { counted: Counted; shown: Span | undefined }) {
  const { scale, totals, errors, warnings } = counted;
  const highest = Math.max(1, ...totals);
  // A bar with records is never too low to be seen.
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count / highest) * HEIGHT));
  const [first, last] = shown
    ? [Math.min(shown.anchor, shown.focus), Math.max(shown.anchor, shown.focus)]
    : [Number.NaN, Number.NaN];
  return (
    <svg viewBox={`0 0 ${scale.bars} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {shown && <rect class="selected" x={first} y={0} width={last - first + 1} height={HEIGHT} />}
      {totals.map((total, bar) => {
        const [error = 0, warning = 0] = [errors[bar], warnings[bar]];
        const parts = [
          ['error', error],
          ['warning', warning],
          ['info', Math.max(0, total - error - warning)],
        ] as const;
        let bottom = HEIGHT;
        return parts.map(([tone, count]) => {
          const height = heightOf(count);
          bottom -= height;
          return count === 0 ? null : (
            <rect
              key={`${bar} ${tone}`}
              class={tone}
              x={bar + 0.1}
              y={Math.max(0, bottom)}
              width={0.8}
              height={height}
            />
          );
        });
      })}
    </svg>
  );
}

function Axis({ scale }: { scale: Scale }) {
  const length = scale.bars * scale.widthMs;
  const format = length > 2 * DAY_MS ? dayFormat.format : length < 10 * 60_000 ? clockTimeWithSeconds : clockTime;
  return (
    <div class="axis quiet" aria-hidden="true">
      {ticksOf(scale, 8)
        .filter(({ share }) => share < LAST_TICK)
        .map(({ at, share }) => (
          <span key={at} style={{ left: `${share * 100}%` }}>
            {format(at)}
          </span>
        ))}
    </div>
  );
}

const Legend = () => (
  <span class="legend quiet" aria-hidden="true">
    <i class="error" /> {texts.histogram.errors}
    <i class="warning" /> {texts.histogram.warnings}
    <i class="info" /> {texts.histogram.others}
  </span>
);
