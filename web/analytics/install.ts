/** Install section: shows the tag of a site and checks whether hits arrive. */
import { byId, element } from '../shared/dom.js';
import { type Api, errorMessage } from './api.js';
import type { Attempt, Site } from './contract.js';
import { reason, time } from './formatting.js';

const POLL_MS = 3000;
const MAX_ATTEMPTS = 20;

export function createInstall(api: Api) {
  const [section, opener, check] = [byId('install'), byId('open-install'), byId('check')];
  const copy = byId<HTMLButtonElement>('copy');
  let site: Site | undefined;

  function showState(state: 'waiting' | 'works' | 'ignored', text: string) {
    check.dataset.state = state;
    if (check.textContent !== text) check.textContent = text;
  }

  async function checkHits() {
    const requestedSite = site;
    if (!requestedSite || section.hidden || document.hidden) return;
    const outcome = await api
      .attempts(requestedSite.id)
      .catch((error: unknown) => showState('ignored', errorMessage(error)));
    if (!outcome || site?.id !== requestedSite.id) return;
    const { attempts } = outcome;
    byId('attempt-list').replaceChildren(...attempts.slice(0, MAX_ATTEMPTS).map(row));
    byId('attempts').hidden = attempts.length === 0;
    const lastAccepted = attempts.find(({ accepted }) => accepted);
    const [newest] = attempts;
    if (lastAccepted)
      showState('works', `It works: received ${describe(lastAccepted)} at ${time(lastAccepted.timestamp)}.`);
    else if (newest) showState('ignored', `Hits arrive but are ignored: ${reason(newest.reason, newest.host)}.`);
    else showState('waiting', 'No hits yet. Open a page with the tag; its view appears here immediately.');
  }
  setInterval(checkHits, POLL_MS);

  copy.onclick = async () => {
    const snippet = byId('snippet');
    const isCopied = await Promise.resolve(
      navigator.clipboard?.writeText(snippet.textContent ?? '') ?? Promise.reject(),
    )
      .then(() => true)
      .catch(() => false);
    // If copying is not permitted, select the tag for manual copying.
    if (!isCopied) getSelection()?.selectAllChildren(snippet);
    byId('aloud').textContent = isCopied ? 'Tag copied.' : 'Tag selected; copy it.';
    copy.textContent = isCopied ? 'Copied' : 'Selected';
  };

  function open(isOpen: boolean) {
    section.hidden = !isOpen;
    opener.setAttribute('aria-expanded', String(isOpen));
    void checkHits();
  }
  opener.onclick = () => open(section.hidden === true);
  byId('close-install').onclick = () => {
    open(false);
    opener.focus();
  };

  return {
    open,
    /** Checks again for hits. */
    checkHits: () => void checkHits(),
    show(selected: Site) {
      const isNewSite = site?.id !== selected.id;
      site = selected;
      byId('snippet').textContent = selected.snippet;
      byId('install-how').textContent = howTo(selected);
      copy.textContent = 'Copy';
      if (isNewSite) showState('waiting', '');
      void checkHits();
    },
  };
}

function howTo({ domains, hasIngestToken }: Site): string {
  if (hasIngestToken)
    return 'This site requires an ingest token: servers send hits to /api/collect with the header x-analytics-token. The tag does not send it.';
  if (domains.length === 0)
    return 'The site has no domains yet. Add one in the settings, then put this tag on its pages.';
  return `Put this tag on the pages of ${domains.slice(0, 3).join(', ')}${domains.length > 3 ? ', …' : ''}, before </head>.`;
}

const describe = ({ kind, eventName, host, path }: Attempt) =>
  `${kind === 'event' ? `event ${eventName ?? ''} on` : 'a view of'} ${host ?? ''}${path ?? ''}`;

function row(attempt: Attempt): HTMLElement {
  const { accepted, timestamp, host } = attempt;
  return element(
    'li',
    { className: accepted ? 'works' : 'ignored' },
    element('time', { className: 'quiet', dateTime: timestamp }, time(timestamp)),
    element('bdi', { className: 'what' }, describe(attempt)),
    element('span', { className: 'quiet' }, accepted ? 'counted' : `ignored: ${reason(attempt.reason, host)}`),
  );
}
