/** An event of the log: a line that opens as JSON, with the events of the same request. */
import { useState } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { CopyButton } from '../../shared/components/copy-button.js';
import { dateTime, Time } from '../../shared/components/time.js';
import { Loaded, useLoad } from '../../shared/use-load.js';
import type { EventHeader, RelatedEvents } from '../contract.js';
import { get } from '../session.js';
import { texts } from '../texts.js';

/** Deeper rows are not indented further, so that they stay in view. */
const MAX_DEPTH = 8;

interface EventRowProps {
  readonly event: EventHeader;
  /** Number of its causes, in a tree. */
  readonly depth?: number;
  /** Whether it is the event that the tree was opened for. */
  readonly isOrigin?: boolean;
}

export function EventRow({ event, depth = 0, isOrigin = false }: EventRowProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li style={depth > 0 ? { marginInlineStart: `${Math.min(depth, MAX_DEPTH) * 1.25}rem` } : undefined}>
      <button
        type="button"
        class="event-row"
        aria-expanded={isOpen}
        aria-current={isOrigin || undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <EventLine event={event} />
      </button>
      {isOpen && <Opened event={event} />}
    </li>
  );
}

function EventLine({ event: { recordedAt, type, stream, revision } }: { event: EventHeader }) {
  const [service = '', name = type] = type.split('.');
  const at = Date.parse(recordedAt);
  return (
    <>
      <Time at={at}>{dateTime(at)}</Time>
      <span class="tag">{stream.slice(0, stream.indexOf('.')) || service}</span>
      <strong>{name}</strong>
      <span class="quiet stream">
        {stream}@{revision}
      </span>
    </>
  );
}

function Opened({ event }: { event: EventHeader }) {
  const stored = useLoad((signal) => get<object>(`events/${event.position}`, signal));
  const [showsRelated, showRelated] = useState(false);
  return (
    <div class="opened">
      <Loaded of={stored}>
        {(value) => {
          const text = JSON.stringify(value, undefined, 2);
          return (
            <>
              <p class="quiet">{texts.events.stored}</p>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
              <section class="json" tabIndex={0} aria-label={texts.events.json}>
                <pre>{text}</pre>
              </section>
              <p class="actions">
                <CopyButton text={text} />
                <a class="button small" href={`#/events?stream=${encodeURIComponent(event.stream)}`}>
                  {texts.events.stream}
                </a>
                {event.correlationId !== undefined && !showsRelated && (
                  <Button small onClick={() => showRelated(true)}>
                    {texts.events.related}
                  </Button>
                )}
              </p>
            </>
          );
        }}
      </Loaded>
      {showsRelated && <Related event={event} />}
    </div>
  );
}

function Related({ event }: { event: EventHeader }) {
  const related = useLoad((signal) => get<RelatedEvents>(`events/${event.position}/related`, signal));
  return (
    <section aria-label={texts.events.related}>
      <Loaded of={related} loadingLabel={texts.events.loading}>
        {({ events, scanned, complete }) => (
          <>
            <p class="quiet">{texts.events.relatedHint(scanned, complete)}</p>
            <ul class="plain tree">
              {events.map((each) => (
                <EventRow
                  key={each.position}
                  event={each}
                  depth={each.depth}
                  isOrigin={each.position === event.position}
                />
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </section>
  );
}
