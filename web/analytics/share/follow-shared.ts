/** Shows the site of a public link and keeps its report current. */
import { effect } from '@preact/signals';
import { clearReport, loaded, loadReport } from '../state/report.js';
import { readAddress, siteId, sites } from '../state/selection.js';
import { texts } from '../texts.js';
import { shareToken } from './share-token.js';

const REFRESH_MS = 60_000;

/** Starts the page; returns a function that stops it. */
export function startShared(): () => void {
  const id = shareToken?.split('.', 1)[0] ?? '';
  // The name comes with the report.
  const blank = { name: '', domains: [], allowedEventProperties: [], goals: [], snippet: '', shareUrl: null };
  sites.value = [{ ...blank, id, hasIngestToken: false }];
  const refresh = () => {
    if (!document.hidden) void loadReport('same');
  };
  const onHistory = () => {
    readAddress();
    siteId.value = id;
    void loadReport();
  };
  // Another link opened in this tab.
  const onOtherLink = () => location.reload();
  addEventListener('popstate', onHistory);
  addEventListener('hashchange', onOtherLink);
  document.addEventListener('visibilitychange', refresh);
  const timer = setInterval(refresh, REFRESH_MS);
  const stopTitle = effect(() => {
    const name = loaded.value?.report.name;
    if (name !== undefined) document.title = texts.titleOf(name);
  });
  onHistory();
  return () => {
    removeEventListener('popstate', onHistory);
    removeEventListener('hashchange', onOtherLink);
    document.removeEventListener('visibilitychange', refresh);
    clearInterval(timer);
    stopTitle();
    clearReport();
  };
}
