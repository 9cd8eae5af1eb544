/** The audit log: filtered by action, newest first, more on demand. */
import { ScrollText } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Button } from '../../shared/components/button.js';
import { SelectField } from '../../shared/components/form.js';
import { Empty } from '../../shared/components/states.js';
import { clockTime, dayTitle, Time } from '../../shared/components/time.js';
import { toast } from '../../shared/components/toasts.js';
import { Loaded, useLoad } from '../../shared/use-load.js';
import { http } from '../api.js';
import { adminTexts, auditActions } from '../texts/admin.js';
import { settingsTexts } from '../texts/settings.js';
import { type AuditEntry, actorOf, detailsOf, sentenceOf, targetOf } from './audit-entry.js';
import { loadNames, type Names } from './directory.js';

const texts = adminTexts.audit;
const PAGE = 100;

interface Page {
  readonly entries: readonly AuditEntry[];
  readonly names: Names;
  readonly hasMore: boolean;
}

async function loadEntries(action: string, before?: string, signal?: AbortSignal): Promise<readonly AuditEntry[]> {
  const query = { limit: PAGE, action: action || undefined, before };
  const options = { query, ...(signal && { signal }) };
  return (await http.json<{ entries: readonly AuditEntry[] }>('GET', 'admin/audit-log', options)).entries;
}

export function AuditSection() {
  const [action, setAction] = useState('');
  const log = useLoad<Page>(
    async (signal) => {
      const [entries, names] = await Promise.all([loadEntries(action, undefined, signal), loadNames(signal)]);
      return { entries, names, hasMore: entries.length === PAGE };
    },
    [action],
  );
  const [isLoadingMore, setLoadingMore] = useState(false);

  async function loadMore({ entries }: Page) {
    setLoadingMore(true);
    try {
      const older = await loadEntries(action, entries.at(-1)?.id);
      log.update((page) => ({ ...page, entries: [...entries, ...older], hasMore: older.length === PAGE }));
    } catch (error) {
      toast({ text: messageOf(error), tone: 'bad' });
    } finally {
      setLoadingMore(false);
    }
  }

  return (
    <>
      <div class="settings-head">
        <p class="quiet">{texts.hint}</p>
        <SelectField label={texts.action} value={action} onChange={({ currentTarget: { value } }) => setAction(value)}>
          <option value="">{texts.all}</option>
          {Object.entries(auditActions).map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </SelectField>
      </div>
      <Loaded of={log} loadingLabel={settingsTexts.loading} retryLabel={settingsTexts.retry}>
        {(page) => (
          <div aria-busy={log.isLoading}>
            {page.entries.length === 0 ? (
              <Empty icon={ScrollText} title={texts.none} children={texts.noneHint} />
            ) : (
              <EntryTable {...page} />
            )}
            {page.hasMore && (
              <div class="settings-foot">
                <Button busy={isLoadingMore} onClick={() => loadMore(page)}>
                  {settingsTexts.more}
                </Button>
              </div>
            )}
          </div>
        )}
      </Loaded>
    </>
  );
}

const EntryTable = ({ entries, names }: Pick<Page, 'entries' | 'names'>) => (
  <table class="audit">
    <thead>
      <tr>
        <th scope="col">{texts.time}</th>
        <th scope="col">{texts.who}</th>
        <th scope="col">{texts.what}</th>
      </tr>
    </thead>
    <tbody>
      {entries.map((entry) => (
        <EntryRow key={entry.id} entry={entry} names={names} />
      ))}
    </tbody>
  </table>
);

function EntryRow({ entry, names }: { entry: AuditEntry; names: Names }) {
  const target = targetOf(entry, names);
  return (
    <tr>
      <td>
        <Time at={entry.createdAt}>{`${dayTitle(entry.createdAt)}, ${clockTime(entry.createdAt)}`}</Time>
      </td>
      <td>{actorOf(entry, names)}</td>
      <td>
        {sentenceOf(entry)}
        {target !== undefined && (
          <>
            {': '}
            <strong>{target}</strong>
          </>
        )}
        <Details details={detailsOf(entry, names)} />
      </td>
    </tr>
  );
}

const Details = ({ details }: { details: ReturnType<typeof detailsOf> }) =>
  details.length === 0 ? null : <p class="quiet">{details.map(([label, text]) => `${label}: ${text}`).join(' · ')}</p>;
