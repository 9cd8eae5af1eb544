/** The dashboard of a signed-in user: lists the sites, follows the selected one and keeps its report current. */
import { signal } from '@preact/signals';
import { messageOf } from '../../shared/api/http.js';
import { api } from '../api.js';
import type { Filters, Site } from '../contract.js';
import { followHits } from '../live/follow-hits.js';
import * as live from '../live/live-state.js';
import type { Period } from '../period.js';
import { endSession } from '../session.js';
import { signInTexts, siteTexts, texts } from '../texts.js';
import { cancelRefresh, clearReport, loadReport, refreshSoon } from './report.js';
import {
  closeDialog,
  filters,
  isInstallOpen,
  note,
  period,
  privacy,
  readAddress,
  site,
  siteId,
  sites,
  writeAddress,
} from './selection.js';

/** Why the sites could not be listed. */
export const listTrouble = signal('');
/** Counts what asks the install section to look for hits again. */
export const hitsSeen = signal(0);

let following = new AbortController();
/** Site whose hits are followed and whose report is shown. */
let activeId: string | undefined;

/** Lists the sites and shows the selected one; the only one if none is selected. */
export async function listSites(selected = siteId.value): Promise<void> {
  try {
    const answer = await api.sites();
    sites.value = answer.sites;
    privacy.value = answer.privacy;
    listTrouble.value = '';
  } catch (error) {
    listTrouble.value = messageOf(error);
    return;
  }
  const all = sites.value;
  const found = all.find(({ id }) => id === selected) ?? (all.length === 1 ? all[0] : undefined);
  siteId.value = found?.id;
  await show();
}

/** Shows the selected site, or all. */
async function show(): Promise<void> {
  const selected = site.value;
  document.title = selected ? texts.titleOf(selected.name) : texts.title;
  writeAddress();
  const isNew = selected?.id !== activeId;
  if (isNew) {
    unfollow();
    clearReport();
    isInstallOpen.value = false;
    activeId = selected?.id;
    if (selected) follow(selected.id);
  }
  if (selected) await loadReport(isNew ? 'new' : 'other');
}

/** Shows a site of the list; undefined shows all. */
export function selectSite(id: string | undefined): void {
  siteId.value = id;
  filters.value = {};
  writeAddress({ push: true });
  void listSites(id);
}

/** Replaces the filters of the report. */
export function selectFilters(selected: Filters): void {
  filters.value = selected;
  writeAddress({ push: true });
  void loadReport();
}

export function selectPeriod(selected: Period): void {
  period.value = selected;
  writeAddress({ push: true });
  void loadReport();
}

/** After a site was created or changed. */
export const showSaved = async (saved: Site): Promise<void> => {
  siteId.value = saved.id;
  await listSites(saved.id);
};

/** Removes a deleted site from the list without waiting for the next load. */
export async function leaveSite(id: string, notice: string): Promise<void> {
  sites.value = sites.value?.filter((each) => each.id !== id);
  note.value = notice;
  closeDialog();
  siteId.value = undefined;
  filters.value = {};
  stop();
  await listSites();
}

/** Follows live hits; the stream begins with the last five minutes. */
function follow(id: string): void {
  unfollow();
  following = new AbortController();
  live.clear();
  let wasDisconnected = false;
  const listener = {
    disconnected() {
      live.disconnected();
      wasDisconnected = true;
    },
    connected(aheadMs: number) {
      live.connected(aheadMs);
      // The service is back: retry requests that failed meanwhile.
      if (wasDisconnected) refreshSoon();
      wasDisconnected = false;
    },
    hits(hits: Parameters<typeof live.addHits>[0]) {
      live.addHits(hits);
      refreshSoon();
      hitsSeen.value++;
    },
    ended(reason: 'site' | 'session') {
      if (reason === 'session') return endSession(signInTexts.ended);
      // In another tab or by another user.
      if (site.value?.id === id) void leaveSite(id, siteTexts.removedElsewhere(site.value.name));
    },
  };
  void followHits(id, listener, following.signal);
}

function unfollow(): void {
  following.abort();
  cancelRefresh();
}

function stop(): void {
  unfollow();
  clearReport();
  activeId = undefined;
}

/** Starts the dashboard; returns a function that stops it. */
export function startDashboard(): () => void {
  // Browsers limit connections per host, so hidden pages disconnect their live stream.
  const onVisibility = () => {
    if (activeId === undefined) return;
    if (document.hidden) return unfollow();
    follow(activeId);
    void loadReport();
  };
  const onHistory = () => {
    readAddress();
    void show();
  };
  document.addEventListener('visibilitychange', onVisibility);
  addEventListener('popstate', onHistory);
  readAddress();
  void listSites();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    removeEventListener('popstate', onHistory);
    stop();
    closeDialog();
    sites.value = undefined;
    note.value = '';
  };
}
