/** Inside: which site and which period are shown, and what follows when one of them, or what was counted, changes. */
import { byId, element } from '../shared/dom.js';
import { type Api, query, errorMessage } from './api.js';
import type { Privacy, Report, Site } from './contract.js';
import { createDataDialog } from './data.js';
import { pluralize } from './formatting.js';
import { createInstall } from './install.js';
import { followHits } from './live.js';
import { createLiveView } from './live-view.js';
import { watchMidnight } from './midnight.js';
import { createPeriodPicker, type Period, periodOf } from './period.js';
import { createReportView } from './report-view.js';
import { createSiteDialogs } from './sites.js';

/** While hits come, reports are asked for no more often, and the less often the more work they are. */
const REFRESH_MS = 2000;
const REST_SHARE = 10;

/** `over`: the session has ended. */
export function createDashboard(api: Api, over: () => void) {
  let sites: readonly Site[] = [];
  let privacy: Privacy | undefined;
  let site: Site | undefined;
  let period: Period = periodOf(new URLSearchParams(location.search));
  let following = new AbortController();
  let asking = new AbortController();
  let refreshing: ReturnType<typeof setTimeout> | undefined;
  /** How long the last report took, ms. */
  let took = 0;

  const picker = byId<HTMLSelectElement>('site');
  const [main, trouble] = [byId('report'), byId('trouble')];
  const view = createReportView();
  const live = createLiveView();
  const install = createInstall(api);
  const showPeriod = createPeriodPicker((chosen) => {
    period = chosen;
    void load();
  });
  const dialogs = createSiteDialogs({
    api,
    written: (made) => list(made.id),
    deleted: ({ id }, days) => leave(id, `${id} is deleted, with ${pluralize(days, 'day')} of what was counted.`),
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
  // A browser opens few connections to one place: pages that nobody sees leave them to the others.
  document.addEventListener('visibilitychange', () => {
    if (!site) return;
    if (document.hidden) return unfollow();
    follow(site);
    void load();
  });

  function tell(what: string) {
    trouble.querySelector('span')!.textContent = what;
    trouble.hidden = what === '';
  }

  /** What happened, until it is read. */
  function note(what: string) {
    byId('note').querySelector('span')!.textContent = what;
    byId('note').hidden = what === '';
  }

  /** Shows one of all sites: the one that is wanted, or the first. */
  async function list(wanted?: string): Promise<void> {
    try {
      ({ sites, privacy } = await api.sites());
    } catch (error) {
      main.hidden = false;
      return tell(errorMessage(error));
    }
    picker.replaceChildren(...sites.map(({ id, name }) => element('option', { value: id }, name)));
    const found = sites.find(({ id }) => id === wanted) ?? sites[0];
    for (const id of ['picker', 'open-install', 'open-settings', 'report']) byId(id).hidden = !found;
    byId('no-site').hidden = found !== undefined;
    if (!found) return stop();
    picker.value = found.id;
    const isOther = found.id !== site?.id;
    site = found;
    byId('name').textContent = found.name;
    document.title = `${found.name} · Analytics`;
    install.show(found);
    if (isOther) {
      view.clear();
      install.open(false);
      follow(found);
    }
    await load(isOther ? 'new' : 'other');
  }

  function stop() {
    site = undefined;
    unfollow();
    asking.abort();
  }

  function unfollow() {
    following.abort();
    clearTimeout(refreshing);
    refreshing = undefined;
  }

  /** What is seen begins five minutes back. */
  function follow({ id }: Site) {
    unfollow();
    following = new AbortController();
    live.clear();
    let isLost = false;
    const hearing = {
      ...live,
      lost() {
        live.disconnected();
        isLost = true;
      },
      opened(ahead: number) {
        live.connected(ahead);
        // The service is back: what failed meanwhile may go well now.
        if (isLost) refresh();
        isLost = false;
      },
      hits(hits: Parameters<typeof live.hits>[0]) {
        live.hits(hits);
        refresh();
        install.look();
      },
      over: (why: 'site' | 'session') => (why === 'session' ? over() : void gone(id)),
    };
    void followHits(api, id, hearing, following.signal);
  }

  /** By somebody else, or in another tab; who did it here is told how much went with it. */
  async function gone(id: string) {
    if (site?.id === id) await leave(id, `${site.name} was deleted.`);
  }

  /** A site that is no more: nobody can choose it when that is said. */
  async function leave(id: string, words: string) {
    [...picker.options].find(({ value }) => value === id)?.remove();
    note(words);
    site = undefined;
    await list();
  }

  /** `same`: only counted anew; `new`: a site of which nothing was ever counted is to be installed first. */
  async function load(what: 'same' | 'other' | 'new' = 'other'): Promise<void> {
    if (!site) return;
    const { id } = site;
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    showPeriod(period);
    history.replaceState(null, '', `?${query({ site: id, ...period })}`);
    main.setAttribute('aria-busy', String(what !== 'same'));
    const asked = performance.now();
    try {
      const report = await api.report(id, period, signal);
      if (signal.aborted) return;
      took = performance.now() - asked;
      tell('');
      view.show(id, report);
      countedAt(report.generatedAt);
      if (what === 'new' && isEmpty(report)) install.open(true);
    } catch (error) {
      if (signal.aborted) return;
      view.failed();
      tell(errorMessage(error));
    }
    main.setAttribute('aria-busy', 'false');
  }

  /** Soon: what has come is counted then. */
  function refresh() {
    if (document.hidden) return;
    refreshing ??= setTimeout(
      () => {
        refreshing = undefined;
        void load('same');
      },
      Math.max(REFRESH_MS, REST_SHARE * took),
    );
  }

  /** With what the address asks for. */
  const begin = () => void list(new URLSearchParams(location.search).get('site') ?? undefined);

  return { begin, end: stop };
}

const isEmpty = ({ totals, comparison: { previous } }: Report) =>
  [totals, previous].every(({ pageviews, events }) => pageviews + events === 0);
