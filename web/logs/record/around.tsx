/** Dialog with the records before and after one. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Button } from '../../shared/components/button.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Failed } from '../../shared/components/states.js';
import { entryTime } from '../api/queries.js';
import type { Entry } from '../contract.js';
import { change } from '../explore/view.js';
import { formatCondition } from '../query/syntax.js';
import { texts } from '../texts.js';
import { absoluteRange } from '../time/range.js';
import * as around from './around-state.js';
import { RecordDetails } from './record.js';
import { Row } from './row.js';

/** Milliseconds on each side of the record that "Explore this time" shows. */
const MARGIN_MS = 60_000;

export function Around() {
  const entry = around.center.value;
  return entry ? <AroundDialog key={entry.id} entry={entry} /> : null;
}

function AroundDialog({ entry }: { entry: Entry }) {
  const records = around.context.value;
  return (
    <Dialog title={texts.around.title} onClose={around.closeAround} wide closeLabel={texts.around.close}>
      <div class="around-head">
        <Scopes entry={entry} />
        <Button small onClick={() => explore(entry)}>
          {texts.around.explore}
        </Button>
      </div>
      {around.error.value !== undefined && (
        <Failed error={messageOf(around.error.value)} retry={() => around.setScope(around.scope.value)} />
      )}
      <More side="earlier" has={around.hasEarlier.value} />
      <ol class="around-list">
        {records.map((each) => (
          <ContextRow key={each.id} entry={each} isCenter={each.id === entry.id} scrollKey={records.length} />
        ))}
      </ol>
      <More side="later" has={around.hasLater.value} />
    </Dialog>
  );
}

function Scopes({ entry }: { entry: Entry }) {
  const scopes =
    entry.correlationId === null ? (['producer', 'all'] as const) : (['producer', 'correlation', 'all'] as const);
  return (
    <fieldset class="segments">
      <legend class="unseen">{texts.around.of}</legend>
      {scopes.map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={around.scope.value === each}
          onClick={() => around.setScope(each)}
        >
          {texts.around[each]}
        </button>
      ))}
    </fieldset>
  );
}

function More({ side, has }: { side: 'earlier' | 'later'; has: boolean }) {
  const isEarlier = side === 'earlier';
  if (!has) return <p class="quiet around-end">{isEarlier ? texts.around.start : texts.around.end}</p>;
  return (
    <Button small variant="ghost" busy={around.isLoading.value} onClick={() => around.showMore(side)}>
      {isEarlier ? texts.around.earlier : texts.around.later}
    </Button>
  );
}

function ContextRow({ entry, isCenter, scrollKey }: { entry: Entry; isCenter: boolean; scrollKey: number }) {
  const [isOpen, setOpen] = useState(false);
  const element = useRef<HTMLLIElement>(null);
  // The record stays in view while others are added around it.
  useEffect(() => {
    if (isCenter) element.current?.scrollIntoView({ block: 'center' });
  }, [isCenter, scrollKey]);
  return (
    <li ref={element} class={isCenter ? 'center' : undefined} aria-current={isCenter ? 'true' : undefined}>
      <Row entry={entry} isOpen={isOpen} showDate={false} onClick={() => setOpen(!isOpen)} />
      {isOpen && <RecordDetails entry={entry} />}
    </li>
  );
}

function explore(entry: Entry) {
  const at = entryTime(entry);
  const { producerId, correlationId } = entry;
  const { value: scope } = around.scope;
  const name = scope === 'correlation' ? 'correlation' : 'producer';
  const value = scope === 'correlation' ? (correlationId ?? '') : producerId;
  around.closeAround();
  change({
    text: scope === 'all' ? '' : formatCondition({ kind: name, name, value, negated: false }),
    range: absoluteRange(at - MARGIN_MS, at + MARGIN_MS),
    live: false,
  });
}
