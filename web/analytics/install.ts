/** Installing: the tag for the pages of a site, and whether what they send arrives. */
import { byId, element } from '../shared/dom.js';
import { type Api, errorMessage } from './api.js';
import type { Attempt, Site } from './contract.js';
import { reason, time } from './formatting.js';

const EVERY_MS = 3000;
const SHOWN = 20;

export function createInstall(api: Api) {
  const [section, opener, check] = [byId('install'), byId('open-install'), byId('check')];
  const copy = byId<HTMLButtonElement>('copy');
  let site: Site | undefined;

  function say(state: 'waiting' | 'works' | 'ignored', what: string) {
    check.dataset.state = state;
    if (check.textContent !== what) check.textContent = what;
  }

  async function look() {
    const asked = site;
    if (!asked || section.hidden || document.hidden) return;
    const outcome = await api.attempts(asked.id).catch((error: unknown) => say('ignored', errorMessage(error)));
    if (!outcome || site?.id !== asked.id) return;
    const { attempts } = outcome;
    byId('attempt-list').replaceChildren(...attempts.slice(0, SHOWN).map(row));
    byId('attempts').hidden = attempts.length === 0;
    const came = attempts.find(({ accepted }) => accepted);
    const [newest] = attempts;
    if (came) say('works', `It works: ${whatOf(came)} came at ${time(came.timestamp)}.`);
    else if (newest) say('ignored', `Something comes, and is ignored: ${reason(newest.reason, newest.host)}.`);
    else say('waiting', 'Nothing has come yet. Open a page that has the tag: it is seen here at once.');
  }
  setInterval(look, EVERY_MS);

  copy.onclick = async () => {
    const snippet = byId('snippet');
    const isCopied = await Promise.resolve(
      navigator.clipboard?.writeText(snippet.textContent ?? '') ?? Promise.reject(),
    )
      .then(() => true)
      .catch(() => false);
    // Where nothing may be copied, it is ready to be.
    if (!isCopied) getSelection()?.selectAllChildren(snippet);
    byId('aloud').textContent = isCopied ? 'The tag is copied.' : 'The tag is selected: copy it.';
    copy.textContent = isCopied ? 'Copied' : 'Selected';
  };

  function open(isOpen: boolean) {
    section.hidden = !isOpen;
    opener.setAttribute('aria-expanded', String(isOpen));
    void look();
  }
  opener.onclick = () => open(section.hidden === true);
  byId('close-install').onclick = () => {
    open(false);
    opener.focus();
  };

  return {
    open,
    /** What came is looked at again. */
    look: () => void look(),
    show(shown: Site) {
      const isOther = site?.id !== shown.id;
      site = shown;
      byId('snippet').textContent = shown.snippet;
      byId('install-how').textContent = howTo(shown);
      copy.textContent = 'Copy';
      if (isOther) say('waiting', '');
      void look();
    },
  };
}

function howTo({ domains, hasIngestToken }: Site): string {
  if (hasIngestToken)
    return 'Hits of this site must bring its ingest token as x-analytics-token: servers send them to /api/collect. The tag does not.';
  if (domains.length === 0)
    return 'No page may send yet: add a domain in the settings. Then put this tag on its pages.';
  return `Put this tag on the pages of ${domains.slice(0, 3).join(', ')}${domains.length > 3 ? ', …' : ''}, before </head>.`;
}

const whatOf = ({ kind, eventName, host, path }: Attempt) =>
  `${kind === 'event' ? `the event ${eventName ?? ''} of` : 'a view of'} ${host ?? ''}${path ?? ''}`;

function row(attempt: Attempt): HTMLElement {
  const { accepted, timestamp, host } = attempt;
  return element(
    'li',
    { className: accepted ? 'works' : 'ignored' },
    element('time', { className: 'quiet', dateTime: timestamp }, time(timestamp)),
    element('bdi', { className: 'what' }, whatOf(attempt)),
    element('span', { className: 'quiet' }, accepted ? 'counted' : `ignored: ${reason(attempt.reason, host)}`),
  );
}
