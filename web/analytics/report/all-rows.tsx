/** Dialog with all rows of a list, and a search. */
import { useMemo, useState } from 'preact/hooks';
import { Dialog } from '../../shared/components/dialog.js';
import { VirtualList } from '../../shared/components/virtual-list.js';
import { Loaded, useLoad } from '../../shared/use-load.js';
import type { Report } from '../contract.js';
import type { LoadedReport } from '../state/report.js';
import { listTexts, texts } from '../texts.js';
import { fullReport } from './full-report.js';
import { ListRow } from './list-row.js';
import { itemsOf, type ListOf } from './lists-of.js';

const ROW_PX = 36;

interface AllRowsProps {
  readonly list: ListOf;
  readonly current: LoadedReport;
  readonly onClose: () => void;
}

export function AllRows({ list, current, onClose }: AllRowsProps) {
  const { start, end } = current.report.range;
  const report = useLoad((signal) => fullReport(current, signal), [current.site, start, end]);
  return (
    <Dialog title={list.title} onClose={onClose} closeLabel={texts.close} wide>
      <Loaded of={report} loadingLabel={texts.loading} retryLabel={texts.tryAgain}>
        {(full) => <SearchedRows list={list} report={full} onFilter={onClose} />}
      </Loaded>
    </Dialog>
  );
}

interface SearchedRowsProps {
  readonly list: ListOf;
  readonly report: Report;
  readonly onFilter: () => void;
}

function SearchedRows({ list, report, onFilter }: SearchedRowsProps) {
  const [text, setText] = useState('');
  const items = useMemo(() => itemsOf(list, report), [list, report]);
  const wanted = text.trim().toLowerCase();
  const found = wanted === '' ? items : items.filter(({ label }) => label.toLowerCase().includes(wanted));
  return (
    <div class="all-rows">
      <label>
        <span class="unseen">{listTexts.search}</span>
        <input
          type="search"
          placeholder={listTexts.search}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <p class="quiet" role="status">
        {found.length === 0 ? listTexts.noMatch : listTexts.matches(found.length)}
      </p>
      <VirtualList
        label={list.title}
        keys={found.map(({ key }) => key)}
        estimate={() => ROW_PX}
        row={(index) => {
          const item = found[index];
          return item && <ListRow item={item} whole={list.whole(report)} element="div" onFilter={onFilter} />;
        }}
      />
    </div>
  );
}
