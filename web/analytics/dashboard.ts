/** Dashboard of a signed-in user: selects site and period, loads reports and follows live hits. */
import { byId, element } from '../shared/dom.js';
import { type Api, errorMessage, query } from './api.js';
import type { Privacy, Report, Site } from './contract.js';
import { createDataDialog } from './data.js';
import { pluralize } from './formatting.js';
import { createInstall } from './install.js';
import { followHits, type HitListener } from './live.js';
import { createLiveView } from './live-view.js';
import { watchMidnight } from './midnight.js';
import { createPeriodPicker, type Period, periodOf } from './period.js';
import { createReportView } from './report-view.js';
import { createSiteDialogs } from './sites.js';

/** Minimum time between refreshes while hits arrive. */
const REFRESH_MS = 2000;
/** Minimum time between refreshes as a multiple of the last report's duration. */
const REFRESH_FACTOR = 10;

/** `onSessionEnd` runs when the session has ended. */
export function createDashboard(api: Api, onSessionEnd: () => void) {
  let sites: readonly Site[] = [];
  let privacy: Privacy | undefined;
  let site: Site | undefined;
  let period: Period = periodOf(new URLSearchParams(location.search));
  let following = new AbortController();
  let loading = new AbortController();
  let refreshTimer: ReturnType<typeof setTimeout> | undefined;
  /** Milliseconds the last report took. */
  let loadMs = 0;

  const picker = byId<HTMLSelectElement>('site');
  const [main, trouble] = [byId('report'), byId('trouble')];
  const view = createReportView();
  const live = createLiveView();
  const install = createInstall(api);
  const showPeriod = createPeriodPicker((selected) => {
    period = selected;
    void load();
  });
  const dialogs = createSiteDialogs({
    api,
    onSaved: (saved) => list(saved.id),
    onDeleted: ({ id }, days) => leave(id, `Site ${id} and ${pluralize(days, 'day')} of its data were deleted.`),
  });
  const countedAt = watchMidnight(() => {
    if (!document.hidden) void load('same');
  });
  const showData = createDataDialog(api, () => void load());

  byId('open-create').onclick = byId('first-site').onclick = dialogs.create;
  byId('open-settings').onclick = () => site && dialogs.change(site);
  byId('open-data').onclick = () => privacy && showData(privacy);
  byId('close-note').onclick = () => note('');
  picker.onchange = () => void list(picker.value);
  trouble.querySelector('button')!.onclick = () => begin();
  // Browsers limit connections per host, so hidden pages disconnect their live stream.
  document.addEventListener('visibilitychange', () => {
    if (!site) return;
    if (document.hidden) return unfollow();
    follow(site);
    void load();
  });

  function showError(text: string) {
    trouble.querySelector('span')!.textContent = text;
    trouble.hidden = text === '';
  }

  /** Shows a notice until it is closed. */
  function note(text: string) {
    byId('note').querySelector('span')!.textContent = text;
    byId('note').hidden = text === '';
  }

  /** Reloads the sites and shows the selected one, or the first. */
  async function list(selected?: string): Promise<void> {
    try {
      ({ sites, privacy } = await api.sites());
    } catch (error) {
      main.hidden = false;
      return showError(errorMessage(error));
    }
    picker.replaceChildren(...sites.map(({ id, name }) => element('option', { value: id }, name)));
    const found = sites.find(({ id }) => id === selected) ?? sites[0];
    for (const id of ['picker', 'open-install', 'open-settings', 'report']) byId(id).hidden = !found;
    byId('no-site').hidden = found !== undefined;
    if (!found) return stop();
    picker.value = found.id;
    const isNewSite = found.id !== site?.id;
    site = found;
    byId('name').textContent = found.name;
    document.title = `${found.name} · Analytics`;
    install.show(found);
    if (isNewSite) {
      view.clear();
      install.open(false);
      follow(found);
    }
    await load(isNewSite ? 'new' : 'other');
  }

  function stop() {
    site = undefined;
    unfollow();
    loading.abort();
  }

  function unfollow() {
    following.abort();
    clearTimeout(refreshTimer);
    refreshTimer = undefined;
  }

  /** Follows live hits; the stream begins with the last five minutes. */
  function follow({ id }: Site) {
    unfollow();
    following = new AbortController();
    live.clear();
    let isDisconnected = false;
    const listener: HitListener = {
      ...live,
      disconnected() {
        live.disconnected();
        isDisconnected = true;
      },
      connected(ahead) {
        live.connected(ahead);
        // The service is back: retry requests that failed meanwhile.
        if (isDisconnected) refresh();
        isDisconnected = false;
      },
      hits(hits) {
        live.hits(hits);
        refresh();
        install.checkHits();
      },
      ended: (reason) => (reason === 'session' ? onSessionEnd() : void siteDeleted(id)),
    };
    void followHits(api, id, listener, following.signal);
  }

  /** The site was deleted in another tab or by another user. */
  async function siteDeleted(id: string) {
    if (site?.id === id) await leave(id, `${site.name} was deleted.`);
  }

  /** Removes a deleted site from the picker, then shows another one. */
  async function leave(id: string, notice: string) {
    [...picker.options].find(({ value }) => value === id)?.remove();
    note(notice);
    site = undefined;
    await list();
  }

  /** Loads the report. `same`: refresh only; `new`: opens the install section if the site has no hits yet. */
  async function load(text: 'same' | 'other' | 'new' = 'other'): Promise<void> {
    if (!site) return;
    const { id } = site;
    loading.abort();
    loading = new AbortController();
    const { signal } = loading;
    showPeriod(period);
    history.replaceState(null, '', `?${query({ site: id, ...period })}`);
    main.setAttribute('aria-busy', String(text !== 'same'));
    const startedAt = performance.now();
    try {
      const report = await api.report(id, period, signal);
      if (signal.aborted) return;
      loadMs = performance.now() - startedAt;
      showError('');
      view.show(id, report);
      countedAt(report.generatedAt);
      if (text === 'new' && isEmpty(report)) install.open(true);
    } catch (error) {
      if (signal.aborted) return;
      view.failed();
      showError(errorMessage(error));
    }
    main.setAttribute('aria-busy', 'false');
  }

  /** Schedules a refresh. */
  function refresh() {
    if (document.hidden) return;
    refreshTimer ??= setTimeout(
      () => {
        refreshTimer = undefined;
        void load('same');
      },
      Math.max(REFRESH_MS, REFRESH_FACTOR * loadMs),
    );
  }

  /** Shows the site named in the URL. */
  const begin = () => void list(new URLSearchParams(location.search).get('site') ?? undefined);

  return { begin, end: stop };
}

const isEmpty = ({ totals, comparison: { previous } }: Report) =>
  [totals, previous].every(({ pageviews, events }) => pageviews + events === 0);
