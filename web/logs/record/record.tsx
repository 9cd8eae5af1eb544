/** An opened record: formatted JSON, and what can be done with it and with each of its values. */
import { Copy, Link, Rows3 } from 'lucide-preact';
import { Button } from '../../shared/components/button.js';
import { fullTime, preciseTime } from '../../shared/components/time.js';
import { stringifyExact } from '../api/exact-json.js';
import { entryTime } from '../api/queries.js';
import type { Entry } from '../contract.js';
import { shareAddress, view } from '../explore/view.js';
import { texts } from '../texts.js';
import { showAround } from './around-state.js';
import { copy } from './copy.js';
import { JsonView } from './json-view.js';
import { ValueActions } from './value-actions.js';

export const recordJson = ({ data }: Entry): string => stringifyExact(data, 2);

export function RecordDetails({ entry }: { entry: Entry }) {
  const { producerId, correlationId } = entry;
  const at = entryTime(entry);
  return (
    <div class="record-details">
      <div class="record-actions">
        <span class="quiet">
          {fullTime(at)} <span class="tag">{preciseTime(at)}</span>
        </span>
        <span class="spacer" />
        <Button small icon={Copy} onClick={() => copy(recordJson(entry))}>
          {texts.record.copyJson}
        </Button>
        <Button small icon={Link} onClick={() => copy(recordAddress(entry), texts.results.linkCopied)}>
          {texts.record.copyLink}
        </Button>
        <Button small icon={Rows3} onClick={() => showAround(entry)}>
          {texts.record.around}
        </Button>
      </div>
      <dl class="record-facts">
        <Fact kind="producer" label={texts.record.producer} value={producerId} />
        {correlationId !== null && (
          <Fact kind="correlation" label={texts.record.correlation} value={correlationId} canExclude={false} />
        )}
      </dl>
      <JsonView entry={entry} />
    </div>
  );
}

/** Address that shows the record, among others of the same instant. */
function recordAddress(entry: Entry): string {
  const at = entryTime(entry);
  return shareAddress({ ...view.value, range: { kind: 'absolute', from: at, to: at } });
}

interface FactProps {
  readonly kind: 'producer' | 'correlation';
  readonly label: string;
  readonly value: string;
  readonly canExclude?: boolean;
}

const Fact = ({ kind, label, value, canExclude = true }: FactProps) => (
  <div>
    <dt>{label}</dt>
    <dd>
      <span class="fact">{value}</span>
      <ValueActions condition={{ kind, name: kind, value, negated: false }} canExclude={canExclude} />
    </dd>
  </div>
);
