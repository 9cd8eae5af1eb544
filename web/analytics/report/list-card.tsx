/** A card with lists of the report as tabs: their most frequent rows, and where to find all. */
import { Download } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Button, IconButton } from '../../shared/components/button.js';
import { Tabs } from '../../shared/components/tabs.js';
import { toast } from '../../shared/components/toasts.js';
import { csvOf, download } from '../../shared/csv.js';
import type { Report } from '../contract.js';
import type { LoadedReport } from '../state/report.js';
import { site } from '../state/selection.js';
import { listTexts } from '../texts.js';
import { AllRows } from './all-rows.js';
import { selectedLists } from './chosen.js';
import { fullReport } from './full-report.js';
import { ListRow } from './list-row.js';
import { countsOf, fileName, itemsOf, type ListGroup, type ListOf } from './lists-of.js';

/** Rows of a card. */
const ROWS = 9;

interface ListCardProps {
  readonly group: ListGroup;
  readonly current: LoadedReport;
}

/** Lists that few sites use are left out when they are empty. */
function isShown(list: ListOf, report: Report): boolean {
  if (!list.isRare || list.rows(report).length > 0) return true;
  const hasProperties = (site.value?.allowedEventProperties.length ?? 0) > 0;
  return list.name === 'properties' && report.notKept !== undefined && hasProperties;
}

export function ListCard({ group, current }: ListCardProps) {
  const { report } = current;
  const lists = group.lists.filter((list) => isShown(list, report));
  const [isOpen, setOpen] = useState(false);
  const list = lists.find(({ name }) => name === selectedLists.value[group.id]) ?? lists[0];
  if (!list) return null;
  function select(name: string) {
    selectedLists.value = { ...selectedLists.value, [group.id]: name };
  }
  const { name, title } = list;
  const items = itemsOf(list, report);
  const headId = `list-${name}`;
  const panelId = `rows-${group.id}`;
  return (
    <section class="card list-card" aria-labelledby={headId}>
      <header>
        {lists.length > 1 ? (
          <Tabs
            label={listTexts.groups[group.id]}
            tabs={lists.map((each) => ({ id: each.name, label: each.title }))}
            selected={name}
            onSelect={select}
            panelId={panelId}
            idPrefix="list-"
          />
        ) : (
          <h2 id={headId}>{title}</h2>
        )}
        <span class="quiet counts">{countsOf(list, report)}</span>
        {items.length > 0 && (
          <IconButton small icon={Download} label={listTexts.csvOf(title)} onClick={() => void save(list, current)} />
        )}
      </header>
      <div id={panelId} class="rows" {...(lists.length > 1 && { role: 'tabpanel', 'aria-labelledby': headId })}>
        {items.length === 0 ? (
          <p class="quiet">{report.notKept?.includes(name) ? listTexts.notKept : listTexts.none}</p>
        ) : (
          <ol aria-labelledby={headId}>
            {items.slice(0, ROWS).map((item) => (
              <ListRow key={item.key} item={item} whole={list.whole(report)} element="li" />
            ))}
          </ol>
        )}
      </div>
      {items.length > ROWS && (
        <Button variant="ghost" small aria-label={listTexts.allOf(title)} onClick={() => setOpen(true)}>
          {listTexts.all}
        </Button>
      )}
      {isOpen && <AllRows list={list} current={current} onClose={() => setOpen(false)} />}
    </section>
  );
}

/** Saves all rows, not only those shown. */
async function save(list: ListOf, current: LoadedReport): Promise<void> {
  try {
    const all = await fullReport(current);
    download(fileName(current.site, list.name, current.report), csvOf(list.headers, list.rows(all)));
  } catch (error) {
    toast({ text: messageOf(error), tone: 'bad' });
  }
}
